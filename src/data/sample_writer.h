// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writers of data sets: class folders of images, Caffe's LMDB, idx, TFRecord and RecordIO. A
// writer continues a part that an earlier process left, at a checkpoint. Not aware of the source,
// or of where the complete data set will be (data_conversion.h). Ownership: a writer owns its open
// files. Used by one thread.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "data/sample_source.h"

namespace tench {

// What is on the disk at a checkpoint.
struct WriterCheckpoint {
  int64_t samples = 0;
  std::vector<int64_t> sizes;  // of the files that grow, in the writer's order
};

class SampleWriter {
 public:
  virtual ~SampleWriter() = default;
  // Samples come in order; `index` is the sample's number.
  virtual Status Add(int64_t index, const StoredSample& sample) = 0;
  // Makes the samples so far durable.
  virtual Result<std::vector<int64_t>> Checkpoint() = 0;
};

// Formats that can be written, in the order of the documentation.
std::span<const std::string> WrittenFormats();

// `content` is the folder or file to write; `facts` are the source's, whose class names become
// folders. `from` is a checkpoint of an earlier writer, or empty. An idx file needs the shape of
// the first sample.
Result<std::unique_ptr<SampleWriter>> MakeSampleWriter(std::string_view format,
                                                       const std::filesystem::path& content,
                                                       const SourceFacts& facts,
                                                       const WriterCheckpoint& from);

}  // namespace tench
