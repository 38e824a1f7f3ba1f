// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts in sentences: "1 run", "2 runs".

#include <cstdint>
#include <string>
#include <string_view>

namespace tench {

// The count and its noun; the plural is the noun with an s, unless it is given.
std::string Plural(int64_t count, std::string_view noun, std::string_view plural = {});

}  // namespace tench
