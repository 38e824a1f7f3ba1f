// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files that the data layer of a prototxt reads (Data, ImageData, HDF5Data), as the parts of a
// data text of docs/data.md. Does not open them. Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/caffe/prototxt.h"

namespace tench {

struct CaffeDataFiles {
  std::string layer;              // its name
  std::string format;             // of docs/data.md: "lmdb", "folder", "hdf5"
  std::string source;             // as written in the file
  std::string mean_file;          // "" = none
  std::vector<std::string> keys;  // of docs/data.md, without those that name files
  std::vector<std::string> notes;
};

// The data layer of the phase that `state` selects. nullopt: the network has no layer that reads
// files (DummyData, Input, MemoryData). A format that tench does not read is an error that names
// the layer.
Result<std::optional<CaffeDataFiles>> FindDataFiles(std::string_view text,
                                                    const std::string& origin,
                                                    const CaffeState& state);

}  // namespace tench
