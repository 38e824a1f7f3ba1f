// SPDX-License-Identifier: Apache-2.0
#include "data/decode.h"

#include <algorithm>

#include "base/file.h"
#include "net/fill.h"

namespace tench {
namespace {

constexpr size_t kMaxMeanBytes = size_t{1} << 30;

// Where a crop begins, and whether the image is mirrored.
struct Placement {
  int64_t y = 0, x = 0;
  bool mirrored = false;
};

Placement Place(const SampleDraw& draw, const Transform& transform, int64_t height, int64_t width) {
  const uint64_t counter = draw.epoch * draw.count + draw.index;
  Placement place;
  if (transform.crop > 0) {
    const int64_t rows = height - transform.crop, columns = width - transform.crop;
    place.y = draw.training ? Generator(draw.seed, "data.crop_y").Integer(counter, 0, rows + 1)
                            : rows / 2;
    place.x = draw.training ? Generator(draw.seed, "data.crop_x").Integer(counter, 0, columns + 1)
                            : columns / 2;
  }
  place.mirrored =
      transform.mirror && Generator(draw.seed, "data.mirror").Integer(counter, 0, 2) == 1;
  return place;
}

}  // namespace

Status DecodeSample(const StoredSample& sample, const ImageRequest& request, Image& image) {
  switch (sample.form) {
    case SampleForm::kJpeg:
      return DecodeJpeg(sample.bytes, request, image);
    case SampleForm::kPng:
      return DecodePng(sample.bytes, request, image);
    case SampleForm::kBytes:
      image.channels = sample.shape.at(0);
      image.height = sample.shape.at(1);
      image.width = sample.shape.at(2);
      image.bytes = sample.bytes;
      return Ok();
    case SampleForm::kReals:
    case SampleForm::kWords:
      return Failed("the sample is no image");
  }
  return Failed("the sample has no form");
}

Result<Transformer> Transformer::Make(const Transform& transform, int64_t channels) {
  Transformer made;
  made.transform_ = transform;
  if (made.transform_.channels < 0) made.transform_.channels = channels;
  if (!transform.mean_file.empty()) {
    const std::string message = TENCH_TRY(ReadFile(transform.mean_file, kMaxMeanBytes));
    made.mean_ = TENCH_TRY(ParseMeanFile(message).In(transform.mean_file));
  }
  return made;
}

Status Transformer::CheckMean(const Shape& before_crop) const {
  if (!mean_.values.empty() && mean_.shape != before_crop)
    return Failed("{}: the mean image is {}, but the samples are {}", transform_.mean_file,
                  ToString(mean_.shape), ToString(before_crop));
  const size_t means = transform_.mean.size();
  if (means > 1 && static_cast<int64_t>(means) != before_crop[0])
    return Failed("data: mean: {} values for {} channels", means, before_crop[0]);
  return Ok();
}

Result<Shape> Transformer::OutputShape(const Shape& stored) const {
  Shape shape = stored;
  if (shape.empty()) {
    Check(transform_.resize_height > 0 || transform_.crop > 0,
          "images of unknown size are neither resized nor cropped");
    shape = {transform_.channels == 1 ? 1 : 3, transform_.resize_height, transform_.resize_width};
  }
  if (transform_.resize_height > 0) {
    shape[1] = transform_.resize_height;
    shape[2] = transform_.resize_width;
  }
  if (shape[1] > 0) TENCH_TRY(CheckMean(shape));  // otherwise known with the first image only
  if (transform_.crop > 0) {
    if (shape[1] > 0 && (transform_.crop > shape[1] || transform_.crop > shape[2]))
      return Failed("data: crop: {} is more than the samples of {}", transform_.crop,
                    ToString(shape));
    shape[1] = shape[2] = transform_.crop;
  }
  return shape;
}

namespace {

// The rows have no branches, so that compilers vectorize them.
template <class Value>
void TransformRow(const Value* from, float mean, float scale, int64_t width, float* to) {
  for (int64_t x = 0; x < width; ++x) to[x] = (static_cast<float>(from[x]) - mean) * scale;
}
template <class Value>
void TransformRow(const Value* from, const float* means, float scale, int64_t width, float* to) {
  for (int64_t x = 0; x < width; ++x) to[x] = (static_cast<float>(from[x]) - means[x]) * scale;
}

// `stored` is {C, H, W} of the values, height and width those of the result. `swaps` reverses the
// order of the channels; means are in the order of the result.
template <class Value>
void TransformValues(const Value* values, const Shape& stored, const Placement& place,
                     const Transform& transform, const MeanImage& mean_image, bool swaps,
                     int64_t height, int64_t width, float* to) {
  const std::vector<float>& means = transform.mean;
  for (int64_t c = 0; c < stored[0]; ++c) {
    const float mean = means.empty() ? 0.0f : means[means.size() == 1 ? 0 : static_cast<size_t>(c)];
    const int64_t from_channel = swaps ? stored[0] - 1 - c : c;
    for (int64_t y = 0; y < height; ++y, to += width) {
      const int64_t at = (place.y + y) * stored[2] + place.x, plane = stored[1] * stored[2];
      const Value* row = values + from_channel * plane + at;
      if (mean_image.values.empty())
        TransformRow(row, mean, transform.scale, width, to);
      else
        TransformRow(row, mean_image.values.data() + c * plane + at, transform.scale, width, to);
      if (place.mirrored) std::reverse(to, to + width);
    }
  }
}

}  // namespace

Status Transformer::Apply(const StoredSample& sample, const SampleDraw& draw, const Shape& shape,
                          Scratch& scratch, std::span<float> out) const {
  if (sample.form == SampleForm::kWords) return Failed("the sample is no image");
  const bool reals = sample.form == SampleForm::kReals;
  const Image* image = &scratch.decoded;
  int64_t channels = 0, height = 0, width = 0;
  if (reals) {
    channels = sample.shape[0], height = sample.shape[1], width = sample.shape[2];
  } else {
    TENCH_TRY(DecodeSample(sample,
                           {transform_.channels, transform_.resize_height, transform_.resize_width},
                           scratch.decoded));
    if (transform_.resize_height > 0 &&
        (image->height != transform_.resize_height || image->width != transform_.resize_width)) {
      Resize(scratch.decoded, transform_.resize_height, transform_.resize_width, scratch.resized);
      image = &scratch.resized;
    }
    channels = image->channels, height = image->height, width = image->width;
  }
  TENCH_TRY(CheckMean({channels, height, width}));
  const int64_t out_height = transform_.crop > 0 ? transform_.crop : height;
  const int64_t out_width = transform_.crop > 0 ? transform_.crop : width;
  if (out_height > height || out_width > width)
    return Failed("a sample of {} is smaller than the crop of {}",
                  ToString({channels, height, width}), transform_.crop);
  if (shape != Shape{channels, out_height, out_width})
    return Failed("a sample of {}, but the network reads {}",
                  ToString({channels, out_height, out_width}), ToString(shape));
  const Placement place = Place(draw, transform_, height, width);
  // Bytes that are stored as values keep their order.
  const bool swaps = transform_.bgr && channels == 3 &&
                     (sample.form == SampleForm::kJpeg || sample.form == SampleForm::kPng);
  const Shape stored = {channels, height, width};
  if (reals) {
    TransformValues(sample.reals.data(), stored, place, transform_, mean_, swaps, out_height,
                    out_width, out.data());
  } else {
    TransformValues(reinterpret_cast<const unsigned char*>(image->bytes.data()), stored, place,
                    transform_, mean_, swaps, out_height, out_width, out.data());
  }
  return Ok();
}

}  // namespace tench
