// SPDX-License-Identifier: Apache-2.0
#pragma once
// The builders of the zoo, one family per source file; private to this folder. zoo.cc has checked
// that the family supports the InputSpec, and Infer checks the result. Images below 64 pixels use
// the small form of a family, if it has one; docs/networks.md describes all forms. Invariants:
// inputs are named "data", "label", "tokens" and "lengths", the main loss "loss", and auxiliary
// losses "lossN/loss".

#include "net/graph.h"
#include "net/zoo/zoo.h"

namespace tench {

Graph BuildLenet(const InputSpec& spec);
Graph BuildAlexnet(const InputSpec& spec);
Graph BuildGooglenet(const InputSpec& spec);
Graph BuildVgg(const InputSpec& spec, int depth);     // 16 or 19
Graph BuildResnet(const InputSpec& spec, int depth);  // 18, 34, 50, 101 or 152
Graph BuildLstm(const InputSpec& spec);
Graph BuildAutoencoder(const InputSpec& spec);
Graph BuildAutoencoderStage(const InputSpec& spec, int stage);  // 1, 2 or 3
Graph BuildMlp(const InputSpec& spec);

}  // namespace tench
