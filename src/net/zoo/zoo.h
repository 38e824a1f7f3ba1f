// SPDX-License-Identifier: Apache-2.0
#pragma once
// The networks that tench knows by name. Each family has its own file; zoo.cc lists them. A network
// is built for an InputSpec (image size, classes, sequence length), so that the same name works on
// several data sets; a combination that makes no sense is an error that says which data sets fit.
// Not aware of how data is loaded.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/graph.h"

namespace tench {

// What a data set gives to a network.
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
// Unknown names: an error with the nearest one.
Result<const ZooEntry*> FindNetwork(std::string_view name);

}  // namespace tench
