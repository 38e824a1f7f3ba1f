// SPDX-License-Identifier: Apache-2.0
#pragma once
// Agreement of losses between the workers of a cell. Workers that train the same network from the
// same weights on the same data have the same losses, up to rounding. The first three losses of
// every timed run are compared, including warm-up, because they come from the timed build. Networks
// whose steps draw dropout masks are not compared.
//
// Decision:
//  - If all runs agree, all are right.
//  - Otherwise a run is right if it agrees with a strict majority of the frameworks, and with at
//    least two. Every worker name has one vote, for any number of versions, options and rounds.
//    `native` has no vote, so that tench's engine never outvotes a framework.
//  - Without such a majority, the runs that agree with `reference` are right.
//  - Without `reference`, no run is right.
// Pure; not aware of runs, cells or the store (store/loss_judgement.h).

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tench {

inline constexpr size_t kComparedLosses = 3;

// The tolerance between two losses of one step:
//   kLossShare · max(|a|, |b|) + kLossFloor,
// plus, after an update, kMovementShare times the largest distance of a loss so far from the first.
//
// The values come from jitter runs of the reference (docs/parity.md) at batch 4 and learning rate
// 0.01. Perturbing every result of every op by 16 ulp changes the first loss by a relative 3.8e-5
// at most (ResNet-152). An update amplifies rounding: the second and third losses change by up to
// 1.3 % and 2.4 % of the movement since the first one (ResNet-152), in the other networks by less.
// A tolerance relative to the loss would have to be 8 % for ResNet-152, and would hide missing
// updates in VGG-16, whose loss moves by 0.6 % in its first step. A worker without updates differs
// by the whole movement, a worker without momentum by a third of it at the third step.
inline constexpr double kLossShare = 1e-3;
inline constexpr double kLossFloor = 1e-6;
inline constexpr double kMovementShare = 0.1;

// The losses of one run.
struct LossTrace {
  std::string worker;          // name without version; has one vote
  std::string title;           // "torch 2.15.0 layout=nhwc", for reasons
  std::vector<double> losses;  // of the first steps; the common length is compared
};

// Whether a step includes an update, on which the losses after the first depend.
enum class StepUpdate { kNone, kUpdates };

// The tolerance between two losses at the step with that index, from 0.
double LossAllowance(const LossTrace& a, const LossTrace& b, size_t step, StepUpdate update);

// For each trace "" if it is right, otherwise the reason: the step, both losses and the workers
// with the other loss. Traces of a single worker title are all right.
std::vector<std::string> JudgeLosses(std::span<const LossTrace> traces, StepUpdate update);

}  // namespace tench
