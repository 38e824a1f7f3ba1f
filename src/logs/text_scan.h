// SPDX-License-Identifier: Apache-2.0
#pragma once
// Taking a log line apart from its front: each call takes what it names and says whether it was
// there. Numbers are as C prints them, "nan",
// "-nan" and "inf" too. Pure.

#include <cstdint>
#include <string_view>

namespace tench {

bool TakeText(std::string_view& rest, std::string_view text);
bool TakeInteger(std::string_view& rest, int64_t& value);  // not negative
bool TakeReal(std::string_view& rest, double& value);

}  // namespace tench
