// SPDX-License-Identifier: Apache-2.0
#pragma once
// The text that names real data: `FORMAT:PATH,KEY=VALUE,…`, for example
// `folder:/data/photos,resize=256,crop=227,mirror=yes`. It selects a reader, its options, the
// sample order and the transformation of the samples, so one text determines every bit of the data.
// docs/data.md lists the keys. Not aware of files. Thread safety: pure.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "data/sample_source.h"

namespace tench {

// Caffe's transform_param, and the decoding of images before it.
struct Transform {
  int64_t channels = -1;  // of decoded images: 1, 3, 0 = as stored; -1 = the format's default
  int64_t resize_height = 0, resize_width = 0;  // 0 = no resizing
  int64_t crop = 0;                             // side of the square; 0 = none
  bool mirror = false;
  bool bgr = false;  // decoded pictures get the channels B, G, R, as Caffe's own layers give them
  std::vector<float> mean;  // of each channel, or one of all; empty = 0
  std::string mean_file;    // a BlobProto; "" = none
  float scale = 1;
  bool operator==(const Transform&) const = default;
};

struct DataReference {
  std::string format, path;
  SourceOptions source;
  Transform transform;
  bool shuffle = true;      // a new order in every epoch
  std::string fingerprint;  // that the files must have; "" = any
  int64_t classes = 0;      // of the network; 0 = those of the files
  int64_t length = 0;       // of word sequences; 0 = the data set's
};

// Whether a data name means files: it has a ':'. "mnist" alone is synthetic.
bool IsDataReference(std::string_view text);
// Errors name the key: "data: crop: 'x' is not an integer from 1 to 65536".
Result<DataReference> ParseDataReference(std::string_view text);
// The same text with an absolute path, for a process in another folder.
Result<std::string> AbsoluteDataReference(std::string_view text);

}  // namespace tench
