// SPDX-License-Identifier: Apache-2.0
#pragma once
// A .caffemodel: the weights of a network by layer name, as Caffe keeps them. Reading maps the file
// and walks its outer structure only; numbers go straight from the mapping to whoever asks for
// them, so that a file never lies in memory twice. Writing streams one blob at a time. The old form
// of layers (`layers`) is refused, the old form of shapes (num, channels, height, width) is not.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/caffe/blob_place.h"
#include "net/graph.h"

namespace tench {

// Numbers of one blob, as they lie in the file: packed runs of little-endian floats or doubles,
// usually one.
struct CaffeBlob {
  Shape shape;
  bool doubles = false;
  std::vector<std::string_view> runs;
  int64_t count() const;
  // `out` has count() elements.
  void CopyTo(std::span<float> out) const;
};

struct CaffeLayer {
  std::string name, type;
  std::vector<CaffeBlob> blobs;
};

// The layers that have blobs, in the file's order. The views point into `bytes`.
Result<std::vector<CaffeLayer>> ParseCaffemodel(std::string_view bytes);

// Owns the mapping of a file.
class Caffemodel {
 public:
  static Result<Caffemodel> Open(const std::filesystem::path& path);
  Caffemodel(Caffemodel&& other) noexcept;
  Caffemodel& operator=(Caffemodel&&) = delete;
  ~Caffemodel();

  const std::vector<CaffeLayer>& layers() const { return layers_; }

 private:
  Caffemodel() = default;
  void* mapping_ = nullptr;
  size_t size_ = 0;
  std::vector<CaffeLayer> layers_;
};

// What a file gave to a network.
struct LoadedWeights {
  std::vector<std::string> loaded;  // parameters, by tench's names
  std::vector<std::string>
      missing;  // parameters that the file has no blob for: they keep their fill
  std::vector<std::string> unused;  // layers of the file that the network has no place for
};

// Called once per parameter that the file has, with its values in the order of its shape; the span
// is valid during the call only.
using ParameterSink =
    std::function<Status(const Parameter& parameter, std::span<const float> values)>;
// Gives the values of a parameter to be written.
using ParameterSource = std::function<Status(const Parameter& parameter, std::span<float> out)>;

// By layer name, as Caffe does it. A blob of another shape is an error that names the layer and
// both shapes; a blob whose sizes differ only by ones (an old file's 1x1x10x20 for 10x20) is taken.
Result<LoadedWeights> LoadWeights(const Caffemodel& model, const TypedGraph& graph,
                                  const CaffeNames& names, const ParameterSink& sink);

// Everything that Caffe's --weights needs of the network. Atomic: a temporary file, renamed.
Status WriteCaffemodel(const std::filesystem::path& path, const TypedGraph& graph,
                       const CaffeNames& names, const ParameterSource& source);

}  // namespace tench
