// SPDX-License-Identifier: Apache-2.0
#pragma once
// The momenta in Caffe's .solverstate file: one blob per learnable blob. Caffe applies the rate
// before it accumulates the momentum, so one update at rate 1 without momentum and decay stores the
// plain gradients here, bit for bit.

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

// `learned_net` is the file with the matching weights. Calls `source` for trained parameters; all
// others are zero.
Status WriteSolverState(const std::filesystem::path& path, const std::string& learned_net,
                        const TypedGraph& graph, std::span<const BlobSlot> slots,
                        const SlotSource& source);
// Calls `sink` for every trained parameter, in the order of the slots.
Status ReadSolverState(const std::filesystem::path& path, const TypedGraph& graph,
                       std::span<const BlobSlot> slots, const SlotSink& sink);

}  // namespace tench::caffe_worker
