// SPDX-License-Identifier: Apache-2.0
#pragma once
// The lists of integers in the pickle of a one-dimensional numpy object array. A pickle is a
// program for a stack machine. This one executes the instructions that numpy's arrays consist of
// (protocols 2 to 5). It keeps lists, tuples and integers; every other object is opaque, and no
// class or function is looked up or called. Pure.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tench {

// One vector for each element of the array. `origin` is the offset of the pickle, for messages.
Result<std::vector<std::vector<int64_t>>> ParsePickledLists(std::string_view pickle,
                                                            std::string_view name, size_t origin);

}  // namespace tench
