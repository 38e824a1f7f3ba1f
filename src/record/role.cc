// SPDX-License-Identifier: Apache-2.0
#include "record/role.h"

#include <vector>

#include "base/text.h"

namespace tench {

std::span<const std::string> RoleNames() {
  static const std::vector<std::string> names = {"framework", "baseline", "oracle"};
  return names;
}

const std::string& Name(Role role) { return RoleNames()[static_cast<size_t>(role)]; }

Result<Role> ParseRole(std::string_view text) {
  return static_cast<Role>(TENCH_TRY(PositionOf("role", text, RoleNames())));
}

Role UsualRole(std::string_view worker) {
  const std::string_view name = worker.substr(0, worker.find('@'));
  if (name == "native") return Role::kBaseline;
  return name == "reference" ? Role::kOracle : Role::kFramework;
}

}  // namespace tench
