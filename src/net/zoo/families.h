// SPDX-License-Identifier: Apache-2.0
#pragma once
// The builders behind the zoo's table, one family per source file; private to this folder. A
// builder takes the data set's InputSpec on trust: zoo.cc has checked that the family has a form
// for it, and Infer checks what comes out. Images below 64 pixels get a family's small form, where
// it has one; docs/networks.md describes every form. Names that all networks share: the inputs
// "data", "label", "tokens", "lengths"; the main loss "loss"; auxiliary ones "lossN/loss".

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
