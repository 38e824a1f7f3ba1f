// SPDX-License-Identifier: Apache-2.0
#pragma once
// The built-in networks, by name. A network is built for an InputSpec (image size, classes,
// sequence length), so that one name works for several data sets. An unsupported combination is an
// error that lists the data sets that fit. Not aware of how data is loaded.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/graph.h"

namespace tench {

// The properties of a data set that a network depends on.
struct InputSpec {
  std::string data;                             // its name, for messages
  int64_t channels = 0, height = 0, width = 0;  // images; 0 for sequences
  int64_t vocabulary = 0, length = 0;           // sequences; 0 for images
  int64_t classes = 0;
  bool sequences() const { return vocabulary > 0; }
};

struct ZooEntry {
  std::string name;
  std::string help;               // one line, with the publication
  std::string default_data;       // "mnist", "imagenet", "imdb"
  std::vector<std::string> data;  // the data sets it has a form for
  std::function<Result<Graph>(const InputSpec&)> build;
};

std::span<const ZooEntry> Zoo();
// An unknown name is an error with a spelling hint.
Result<const ZooEntry*> FindNetwork(std::string_view name);

}  // namespace tench
