// SPDX-License-Identifier: Apache-2.0
#pragma once
// A data set in files, ready for a network: the source, the order of its samples and their
// transformation, as a DataReference names them. Batches have the form of MakeBatch (data_set.h).
// Not aware of workers or of when a batch is needed.
//
// Ownership: owns the source. Thread safety: const methods may be called by any number of threads.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/data_reference.h"
#include "data/decode.h"
#include "data/sample_order.h"
#include "net/graph.h"
#include "net/zoo/zoo.h"

namespace tench {

class FileData {
 public:
  // Opens the files and reads their structure.
  static Result<FileData> Open(std::string_view reference);

  const SourceFacts& facts() const { return source_->facts(); }
  const SampleSource& source() const { return *source_; }
  const DataReference& reference() const { return reference_; }

  // What a built-in network depends on. `usual` is the network's own data set: without resize and
  // crop, images of unknown size are resized to it.
  Result<InputSpec> SpecFor(const InputSpec& usual) const;

  // Checks that batches fit the network: the shapes of its inputs and, as far as they are known
  // without reading the samples, its classes and vocabulary. Images of unknown size are from then
  // on resized to the network's input.
  Status Fit(const TypedGraph& graph);

  // Begins the sequence of samples. `limit` > 0 uses only the first samples of the files.
  void Start(uint64_t seed, int64_t limit, bool training);
  int64_t count() const { return count_; }  // samples per epoch

  // Reused memory of one thread.
  struct RowScratch {
    StoredSample sample;
    Transformer::Scratch transform;
  };
  // Rows begin to end - 1 of the batch whose first sample is at the position `first`. SizeBatch has
  // sized the tensors. Several threads may fill different rows of one batch. After Fit and Start.
  Status FillRows(const TypedGraph& graph, int64_t first, int64_t begin, int64_t end,
                  std::vector<HostTensor>& tensors, RowScratch& scratch) const;

  // Positions first, first + 1, … of the sequence; as MakeBatch. After Fit and Start.
  Status MakeBatch(const TypedGraph& graph, int64_t first, std::vector<HostTensor>& tensors,
                   int threads = 1) const;

  // Reads every label, and reports the first that is not below `classes`. Skipped (true) for files
  // of more than kScannedBytes, whose labels are checked as they are read.
  Result<bool> CheckLabels(int64_t classes) const;

  // 16 hex digits: the content of the files (of files beyond kScannedBytes in total: names, sizes,
  // and blocks of the content), the transformation and the order.
  Result<std::string> Fingerprint() const;

  // Fails if the reference states another fingerprint. Before Fit, which may change it.
  Status CheckFingerprint() const;

  static constexpr int64_t kScannedBytes = int64_t{1} << 30;

 private:
  FileData(DataReference reference, std::unique_ptr<SampleSource> source, Transformer transformer)
      : reference_(std::move(reference)),
        source_(std::move(source)),
        transformer_(std::move(transformer)) {}
  Status FillSample(const TypedGraph& graph, int64_t position, int64_t row,
                    std::vector<HostTensor>& tensors, RowScratch& scratch) const;
  // Whether images are resized to the network's input.
  bool FollowsNetwork() const;

  DataReference reference_;
  std::unique_ptr<SampleSource> source_;
  Transformer transformer_;
  std::unique_ptr<SampleOrder> order_;
  uint64_t seed_ = 1;
  int64_t count_ = 0;
  bool training_ = true;
};

// The number of classes of the network's output that the label decides; 0 = unknown.
int64_t ClassesOf(const TypedGraph& graph);

}  // namespace tench
