// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a stored sample to the values of a network's input: decoding, resizing, and Caffe's
// transform_param. docs/data.md has the formulas. All random choices are functions of (seed, epoch,
// index), so every worker gets the same bits at any number of threads.
//
// Ownership: a Transformer owns its mean image. Thread safety: const methods may be called by any
// number of threads; a Scratch belongs to one thread.

#include <span>

#include "data/data_reference.h"
#include "data/datum.h"
#include "data/image.h"
#include "data/sample_source.h"

namespace tench {

// Decodes a JPEG or PNG; a sample of bytes becomes an image without change.
Status DecodeSample(const StoredSample& sample, const ImageRequest& request, Image& image);

// Identifies a sample of a run. The counter of its random choices is epoch · count + index.
struct SampleDraw {
  uint64_t seed = 1, epoch = 0, index = 0, count = 1;
  bool training = true;  // crop at a random place instead of the center
};

class Transformer {
 public:
  // Reused memory of one thread.
  struct Scratch {
    Image decoded, resized;
  };

  // Reads the mean file. `channels` is the format's default for decoded images.
  static Result<Transformer> Make(const Transform& transform, int64_t channels);

  // The shape of the result for a stored shape ({} = encoded images, which have resize or crop).
  Result<Shape> OutputShape(const Shape& stored) const;

  // Fails if the sample does not become `shape`.
  Status Apply(const StoredSample& sample, const SampleDraw& draw, const Shape& shape,
               Scratch& scratch, std::span<float> out) const;

  const Transform& transform() const { return transform_; }

 private:
  Status CheckMean(const Shape& before_crop) const;

  Transform transform_;
  MeanImage mean_;
};

}  // namespace tench
