// SPDX-License-Identifier: Apache-2.0
#include "logs/text_scan.h"

#include <charconv>
#include <limits>

namespace tench {

bool TakeText(std::string_view& rest, std::string_view text) {
  if (!rest.starts_with(text)) return false;
  rest.remove_prefix(text.size());
  return true;
}

bool TakeInteger(std::string_view& rest, int64_t& value) {
  if (rest.empty() || rest[0] == '-') return false;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc{}) return false;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  return true;
}

bool TakeReal(std::string_view& rest, double& value) {
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  // Denormals below the range: Caffe prints uninitialised floats.
  if (error == std::errc::result_out_of_range)
    value = 0;
  else if (error != std::errc{})
    return false;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  return true;
}

}  // namespace tench
