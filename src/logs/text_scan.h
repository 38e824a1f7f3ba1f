// SPDX-License-Identifier: Apache-2.0
#pragma once
// A scanner for log lines. Each function consumes the named token from the front of `rest` and
// returns whether it was present; otherwise `rest` is unchanged. Numbers are in C's formats,
// including "nan", "-nan" and "inf".
// Thread safety: pure functions.

#include <cstdint>
#include <string_view>

namespace tench {

bool TakeText(std::string_view& rest, std::string_view text);
bool TakeInteger(std::string_view& rest, int64_t& value);  // non-negative
bool TakeReal(std::string_view& rest, double& value);

}  // namespace tench
