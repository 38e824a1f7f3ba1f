// SPDX-License-Identifier: Apache-2.0
#pragma once
// A position in a text file, and errors that are prefixed with it as "file:line:column: message".
// Lines and columns count from 1; a default TextPlace is no position.
// Thread safety: passive.

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/error.h"

namespace tench {

struct TextPlace {
  int line = 0;
  int column = 0;

  bool operator==(const TextPlace&) const = default;
};

template <class... Args>
Error FailedAt(std::string_view origin, TextPlace place, fmt::format_string<Args...> format,
               Args&&... args) {
  return Failed("{}:{}:{}: {}", origin, place.line, place.column,
                fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace tench
