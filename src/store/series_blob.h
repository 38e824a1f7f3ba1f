// SPDX-License-Identifier: Apache-2.0
#pragma once
// Number series as the store keeps them: 8 bytes each, little-endian, nothing else. Pure.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tench {

std::string EncodeSeries(std::span<const int64_t> values);
std::string EncodeSeries(std::span<const double> values);
// Fails on a length that is no multiple of 8.
Result<std::vector<int64_t>> DecodeIntegers(std::string_view blob);
Result<std::vector<double>> DecodeReals(std::string_view blob);

}  // namespace tench
