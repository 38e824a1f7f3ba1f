// SPDX-License-Identifier: Apache-2.0
#pragma once
// The data that a prototxt's data layer names, as a data text of docs/data.md with absolute paths.
// Opens the files to learn the shape of a sample.

#include <optional>
#include <string>

#include "base/error.h"
#include "net/caffe/data_files.h"
#include "net/caffe/prototxt.h"
#include "net/tensor.h"

namespace tench {

struct CaffeDataText {
  std::string text;  // "lmdb:/data/train_lmdb,shuffle=no,scale=0.00390625"
  Shape sample;      // {C, H, W}; {} = the files do not tell
};

// Relative paths are searched as Caffe's solver paths are: in the working directory, then beside
// `near`. A missing file is an error that names the layer and --images.
Result<CaffeDataText> OpenCaffeData(const CaffeDataFiles& files, const std::string& near);
// The shape of a sample of a data text; {} = the files do not tell.
Result<Shape> SampleOfData(const std::string& text);

// A network of a prototxt and its data.
struct CaffeJob {
  CaffeNetwork network;
  std::string data;  // "" = synthetic
};
// `data` replaces the file's own; `synthetic` ignores it.
Result<CaffeJob> OpenCaffeJob(const std::string& path, const CaffeState& state,
                              const std::string& data, bool synthetic, const std::string& near);

}  // namespace tench
