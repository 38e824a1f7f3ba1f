// SPDX-License-Identifier: Apache-2.0
#include "data/datum.h"

#include "data/image.h"
#include "data/wire_reader.h"

namespace tench {
namespace {

constexpr int64_t kMaxDatumSide = 65'536;

// Field numbers of caffe.proto.
enum DatumField : uint32_t {
  kChannels = 1,
  kHeight = 2,
  kWidth = 3,
  kData = 4,
  kLabel = 5,
  kFloatData = 6,
  kEncoded = 7,
};

Status CheckShape(const Shape& shape, size_t values) {
  for (const int64_t size : shape) {
    if (size < 1 || size > kMaxDatumSide) return Failed("a shape of {}", ToString(shape));
  }
  if (ElementCount(shape) != static_cast<int64_t>(values))
    return Failed("{} values, but its shape is {}", values, ToString(shape));
  return Ok();
}

Status CheckLabel(int64_t label) {
  if (label < 0 || label > kMaxLabel) return Failed("the label {} is out of range", label);
  return Ok();
}

Status SetEncodedImage(std::string_view content, StoredSample& sample) {
  if (!IsJpeg(content) && !IsPng(content)) return Failed("its image is neither JPEG nor PNG");
  sample.form = IsJpeg(content) ? SampleForm::kJpeg : SampleForm::kPng;
  sample.bytes.assign(content);
  return Ok();
}

// One entry of an Example's map: its key and the serialized Feature.
struct Feature {
  std::string_view key, value;
};

Result<Feature> ParseFeature(std::string_view entry) {
  Feature feature;
  WireReader reader(entry);
  while (TENCH_TRY(reader.Next())) {
    if (reader.field() == 1) feature.key = TENCH_TRY(reader.Bytes());
    if (reader.field() == 2) feature.value = TENCH_TRY(reader.Bytes());
  }
  return feature;
}

// The list in a Feature: bytes_list = 1, float_list = 2, int64_list = 3; empty if it has another.
Result<std::string_view> ListOf(std::string_view feature, uint32_t kind) {
  WireReader reader(feature);
  std::string_view list;
  while (TENCH_TRY(reader.Next())) {
    if (reader.field() == kind) list = TENCH_TRY(reader.Bytes());
  }
  return list;
}

}  // namespace

Status ParseDatum(std::string_view message, StoredSample& sample) {
  sample.shape = {0, 0, 0};
  sample.label = 0;
  sample.reals.clear();
  std::string_view data;
  bool encoded = false;
  WireReader reader(message);
  while (TENCH_TRY(reader.Next())) {
    switch (reader.field()) {
      case kChannels:
      case kHeight:
      case kWidth:
        sample.shape[reader.field() - kChannels] = TENCH_TRY(reader.Integer());
        break;
      case kData:
        data = TENCH_TRY(reader.Bytes());
        break;
      case kLabel:
        sample.label = TENCH_TRY(reader.Integer());
        break;
      case kFloatData:
        TENCH_TRY(reader.AppendFloats(sample.reals));
        break;
      case kEncoded:
        encoded = TENCH_TRY(reader.Integer()) != 0;
        break;
      default:
        break;
    }
  }
  TENCH_TRY(CheckLabel(sample.label));
  if (encoded) return SetEncodedImage(data, sample);
  const bool bytes = !data.empty();
  sample.form = bytes ? SampleForm::kBytes : SampleForm::kReals;
  TENCH_TRY(CheckShape(sample.shape, bytes ? data.size() : sample.reals.size()));
  sample.bytes.assign(data);
  return Ok();
}

Result<std::string> DatumOf(const StoredSample& sample) {
  if (sample.form == SampleForm::kReals || sample.form == SampleForm::kWords)
    return Failed("a Datum can be made of bytes and images only");
  const bool encoded = sample.form != SampleForm::kBytes;
  std::string message;
  if (!encoded) {
    for (uint32_t d = 0; d < 3; ++d)
      AppendVarintField(message, kChannels + d, static_cast<uint64_t>(sample.shape.at(d)));
  }
  AppendBytesField(message, kData, sample.bytes);
  AppendVarintField(message, kLabel, static_cast<uint64_t>(sample.label));
  if (encoded) AppendVarintField(message, kEncoded, 1);
  return message;
}

Status ParseExample(std::string_view message, StoredSample& sample) {
  std::string_view image;
  std::vector<int64_t> labels;
  WireReader example(message);
  while (TENCH_TRY(example.Next())) {
    if (example.field() != 1) continue;
    WireReader features(TENCH_TRY(example.Bytes()));
    while (TENCH_TRY(features.Next())) {
      if (features.field() != 1) continue;
      const std::string_view entry = TENCH_TRY(features.Bytes());
      const Feature feature = TENCH_TRY(ParseFeature(entry));
      if (feature.key == "image/encoded") {
        WireReader list(TENCH_TRY(ListOf(feature.value, 1)));
        while (TENCH_TRY(list.Next())) image = TENCH_TRY(list.Bytes());
      } else if (feature.key == "image/class/label") {
        WireReader list(TENCH_TRY(ListOf(feature.value, 3)));
        while (TENCH_TRY(list.Next())) TENCH_TRY(list.AppendIntegers(labels));
      }
    }
  }
  if (image.empty()) return Failed("the Example has no image/encoded");
  if (labels.size() != 1)
    return Failed("the Example has {} values of image/class/label, not one", labels.size());
  sample.label = labels[0];
  TENCH_TRY(CheckLabel(sample.label));
  return SetEncodedImage(image, sample);
}

std::string ExampleOf(const StoredSample& image) {
  const auto feature = [](std::string_view key, uint32_t kind, std::string_view list) {
    std::string value, entry;
    AppendBytesField(value, kind, list);
    AppendBytesField(entry, 1, key);
    AppendBytesField(entry, 2, value);
    return entry;
  };
  std::string bytes, label, features, example;
  AppendBytesField(bytes, 1, image.bytes);
  AppendVarintField(label, 1, static_cast<uint64_t>(image.label));
  AppendBytesField(features, 1, feature("image/encoded", 1, bytes));
  AppendBytesField(features, 1, feature("image/class/label", 3, label));
  AppendBytesField(example, 1, features);
  return example;
}

Result<MeanImage> ParseMeanFile(std::string_view message) {
  MeanImage mean;
  std::vector<int64_t> legacy = {1, 1, 1, 1};  // num, channels, height, width
  std::vector<int64_t> dimensions;
  WireReader reader(message);
  while (TENCH_TRY(reader.Next())) {
    if (reader.field() >= 1 && reader.field() <= 4) {
      legacy[reader.field() - 1] = TENCH_TRY(reader.Integer());
    } else if (reader.field() == 5) {
      TENCH_TRY(reader.AppendFloats(mean.values));
    } else if (reader.field() == 7) {
      WireReader shape(TENCH_TRY(reader.Bytes()));
      while (TENCH_TRY(shape.Next()))
        if (shape.field() == 1) TENCH_TRY(shape.AppendIntegers(dimensions));
    } else if (reader.field() == 8) {
      TENCH_TRY(reader.AppendDoubles(mean.values));
    }
  }
  if (dimensions.empty()) dimensions = legacy;
  if (dimensions.size() == 4 && dimensions[0] == 1) dimensions.erase(dimensions.begin());
  if (dimensions.size() != 3)
    return Failed("a mean image has the dimensions 1xCxHxW, not {}", ToString(dimensions));
  TENCH_TRY(CheckShape(dimensions, mean.values.size()));
  mean.shape = std::move(dimensions);
  return mean;
}

}  // namespace tench
