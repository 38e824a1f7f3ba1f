// SPDX-License-Identifier: Apache-2.0
#pragma once
// Encoding of a census in the store: JSON, one object per row. Pure.

#include <string>
#include <string_view>

#include "base/error.h"
#include "record/census.h"

namespace tench {

std::string EncodeCensus(const Census& census);  // "" for a census without steps
Result<Census> DecodeCensus(std::string_view blob);

}  // namespace tench
