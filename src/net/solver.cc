// SPDX-License-Identifier: Apache-2.0
#include "net/solver.h"

#include <fmt/format.h>

namespace tench {
namespace {

constexpr std::string_view kClip = "clip_gradients";

}  // namespace

const std::vector<std::string>& SolverTypeNames() {
  static const std::vector<std::string> names = {"sgd", "nesterov", "adam"};
  return names;
}

std::string_view Name(SolverType type) { return SolverTypeNames()[static_cast<size_t>(type)]; }

std::string SolverText(const Solver& solver) {
  std::string text(Name(solver.type));
  if (solver.type == SolverType::kAdam)
    text += fmt::format(" momentum2={} delta={}", solver.momentum2, solver.delta);
  if (solver.clip_gradients > 0) text += fmt::format(" {}={}", kClip, solver.clip_gradients);
  return text;
}

std::vector<std::string> SolverNeeds(const Solver& solver) {
  std::vector<std::string> needs = {std::string(Name(solver.type))};
  if (solver.clip_gradients > 0) needs.emplace_back(kClip);
  return needs;
}

std::vector<std::string> SolverAbilities() {
  std::vector<std::string> all = SolverTypeNames();
  all.emplace_back(kClip);
  return all;
}

}  // namespace tench
