// SPDX-License-Identifier: Apache-2.0
#pragma once
// The messages that data sets are stored in: Caffe's Datum and BlobProto (a mean file), and
// TensorFlow's Example with an image. Reads and writes them without the protobuf library
// (wire_reader.h). Thread safety: pure functions.

#include <string>
#include <string_view>
#include <vector>

#include "data/sample_source.h"

namespace tench {

// A Datum of bytes, floats or an encoded image; fields as in caffe.proto.
Status ParseDatum(std::string_view message, StoredSample& sample);
// Of a sample of bytes or an encoded image; reals and words are errors.
Result<std::string> DatumOf(const StoredSample& sample);

// An Example with image/encoded and image/class/label, as TensorFlow's image data sets have it.
Status ParseExample(std::string_view message, StoredSample& sample);
// Of an encoded image.
std::string ExampleOf(const StoredSample& image);

// A mean image: {C, H, W} and its values.
struct MeanImage {
  Shape shape;
  std::vector<float> values;
};
Result<MeanImage> ParseMeanFile(std::string_view message);

}  // namespace tench
