// SPDX-License-Identifier: Apache-2.0
#include "net/solver.h"

#include <fmt/format.h>

#include "axis/optimizer_name.h"

namespace tench {
namespace {

constexpr std::string_view kClip = "clip_gradients", kL1 = "l1", kIterSize = "iter_size";

}  // namespace

const std::vector<std::string>& SolverTypeNames() { return OptimizerTypes(); }

std::string_view Name(SolverType type) { return SolverTypeNames()[static_cast<size_t>(type)]; }

bool HasSecondHistory(SolverType type) {
  return type == SolverType::kAdam || type == SolverType::kAdadelta;
}

bool UsesMomentum(SolverType type) {
  return type != SolverType::kRmsprop && type != SolverType::kAdagrad;
}

bool UsesDelta(SolverType type) {
  return type != SolverType::kSgd && type != SolverType::kNesterov;
}

std::string SolverText(const Solver& solver) {
  std::string text(Name(solver.type));
  if (solver.type == SolverType::kAdam) text += fmt::format(" momentum2={}", solver.momentum2);
  if (solver.type == SolverType::kRmsprop) text += fmt::format(" rms_decay={}", solver.rms_decay);
  if (UsesDelta(solver.type)) text += fmt::format(" delta={}", solver.delta);
  if (solver.clip_gradients > 0) text += fmt::format(" {}={}", kClip, solver.clip_gradients);
  if (solver.regularization == Regularization::kL1) text += fmt::format(" {}", kL1);
  if (solver.iter_size > 1) text += fmt::format(" {}={}", kIterSize, solver.iter_size);
  return text;
}

std::vector<std::string> SolverNeeds(const Solver& solver) {
  std::vector<std::string> needs = {std::string(Name(solver.type))};
  if (solver.clip_gradients > 0) needs.emplace_back(kClip);
  if (solver.regularization == Regularization::kL1) needs.emplace_back(kL1);
  if (solver.iter_size > 1) needs.emplace_back(kIterSize);
  return needs;
}

std::vector<std::string> SolverAbilities() {
  std::vector<std::string> all = SolverTypeNames();
  for (const std::string_view word : {kClip, kL1, kIterSize}) all.emplace_back(word);
  return all;
}

}  // namespace tench
