// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads and writes .caffemodel files: the weights of a network by layer name.
//
// Reading maps the file and parses only its outer structure. Values are copied from the mapping on
// request, so that a file is never in memory twice. Writing streams one blob at a time. Layers of
// the V1 format (`layers`) and legacy blob shapes (num, channels, height, width) are read; V0 is
// rejected.
// Thread safety: a Caffemodel is immutable after Open.

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

// The values of one blob in the encoding of the file: packed runs of little-endian floats or
// doubles, usually one run.
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

// The layers with blobs, in the order of the file. The views point into `bytes`.
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

// The result of loading a file into a network.
struct LoadedWeights {
  std::vector<std::string> loaded;   // parameters, by tench's names
  std::vector<std::string> missing;  // parameters without a blob in the file; they keep their fill
  std::vector<std::string> unused;   // layers of the file that are not in the network
};

// Called once per parameter in the file with its values in row-major order. The span is valid
// during the call.
using ParameterSink =
    std::function<Status(const Parameter& parameter, std::span<const float> values)>;
// Provides the values of a parameter to write.
using ParameterSource = std::function<Status(const Parameter& parameter, std::span<float> out)>;

// Matches layers by name, as Caffe does. A blob of a different shape is an error that names the
// layer and both shapes. Leading dimensions of 1 are ignored: legacy files have 1x1x10x20 for
// 10x20.
Result<LoadedWeights> LoadWeights(const Caffemodel& model, const TypedGraph& graph,
                                  const CaffeNames& names, const ParameterSink& sink);

// Writes a file for Caffe's --weights. Atomic: writes a temporary file and renames it.
Status WriteCaffemodel(const std::filesystem::path& path, const TypedGraph& graph,
                       const CaffeNames& names, const ParameterSource& source);

}  // namespace tench
