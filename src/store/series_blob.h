// SPDX-License-Identifier: Apache-2.0
#pragma once
// Encoding of number series in the store: 8 bytes each, little-endian, without a header. Pure.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tench {

inline constexpr int64_t kSeriesValueBytes = 8;

std::string EncodeSeries(std::span<const int64_t> values);
std::string EncodeSeries(std::span<const double> values);
// Fails if the length is not a multiple of 8.
Result<std::vector<int64_t>> DecodeIntegers(std::string_view blob);
Result<std::vector<double>> DecodeReals(std::string_view blob);

}  // namespace tench
