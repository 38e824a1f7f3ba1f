// SPDX-License-Identifier: Apache-2.0
#include "base/variable_name.h"

namespace tench {

std::string VariableName(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const bool lower = c >= 'a' && c <= 'z', upper = c >= 'A' && c <= 'Z';
    const bool digit = c >= '0' && c <= '9';
    name += lower ? static_cast<char>(c - 'a' + 'A') : upper || digit ? c : '_';
  }
  return name;
}

}  // namespace tench
