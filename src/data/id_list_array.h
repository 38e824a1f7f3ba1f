// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lists of integers in a .npy array: an object array of Python lists (as in Keras' imdb.npz), a
// matrix of integers whose rows are the lists, or a vector of integers, each a list of one. Objects
// are pickles; only lists and integers are interpreted, and nothing is ever executed. Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tench {

struct IdLists {
  std::vector<int64_t> ids;  // of all lists, one after the other
  std::vector<size_t> ends;  // of each list in `ids`
  bool padded = false;       // the lists are rows of a matrix
  int64_t count() const { return static_cast<int64_t>(ends.size()); }
};

// `name` is for messages: "NAME: offset N: what", with the offset in `npy`.
Result<IdLists> ParseIdLists(std::string_view npy, std::string_view name);

}  // namespace tench
