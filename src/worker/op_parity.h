// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests of adapters: the op tester. It runs a network with the reference adapter and with
// another, from the same bits, and lists every loss and tensor that differs by more than a bound.
// The list is empty if they agree, so that a test expects it to be empty. Not aware of gtest or of
// any framework.

#include <string>
#include <vector>

#include "worker/adapter_run.h"
#include "worker/op_cases.h"

namespace tench {

struct ParityBounds {
  double tolerance = 1e-5;  // of the relative error of a tensor, in the 2-norm
  double floor = 1e-6;      // per element: the norm below which a tensor counts as rounding
};

std::vector<std::string> Differences(const AdapterRun& expected, const AdapterRun& got,
                                     const ParityBounds& bounds);

// The plan's worker options are not passed to the reference.
std::vector<std::string> CompareAdapters(Adapter& reference, Adapter& worker, const Graph& graph,
                                         int64_t batch, const RunPlan& plan,
                                         const ParityBounds& bounds = {});

// One op case in every phase, in the observing build and in the build that is timed. Three further
// updates of the timed build have three times the tolerance.
std::vector<std::string> CompareOpCase(Adapter& reference, Adapter& worker, const OpCase& op_case,
                                       const std::map<std::string, std::string>& options = {},
                                       const ParityBounds& bounds = {});

// Compares the gradients that a timed build of phase gradient leaves in memory with the
// reference's. The build must report them as materialized.
std::vector<std::string> CompareTimedGradients(
    Adapter& reference, Adapter& worker, const Graph& graph, int64_t batch,
    const std::map<std::string, std::string>& options = {}, const ParityBounds& bounds = {});

}  // namespace tench
