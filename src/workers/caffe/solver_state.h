// SPDX-License-Identifier: Apache-2.0
#pragma once
// The momenta of a training, as Caffe's solver keeps them in a .solverstate: one blob per blob that
// it learns. Because Caffe multiplies by the rate before it adds to the momentum, one update at
// rate 1 without momentum and decay leaves the plain gradients here, bit for bit.

#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "base/error.h"
#include "net/graph.h"
#include "workers/caffe/net_text.h"

namespace tench::caffe_worker {

using SlotSource = std::function<Status(const Parameter& parameter, std::span<float> out)>;
using SlotSink = std::function<Status(const Parameter& parameter, std::span<const float> values)>;

// `learned_net` is the file of the weights that belong to it. Asks for trained parameters; the rest
// is zero.
Status WriteSolverState(const std::filesystem::path& path, const std::string& learned_net,
                        const TypedGraph& graph, std::span<const BlobSlot> slots,
                        const SlotSource& source);
// Calls for every trained parameter, in the order of the slots.
Status ReadSolverState(const std::filesystem::path& path, const TypedGraph& graph,
                       std::span<const BlobSlot> slots, const SlotSink& sink);

}  // namespace tench::caffe_worker
