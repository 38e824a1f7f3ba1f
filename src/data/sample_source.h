// SPDX-License-Identifier: Apache-2.0
#pragma once
// The interface of every reader of a data set in files. A source knows how many samples its files
// have and reads sample i as stored: bytes, reals, words, or a JPEG or PNG image, with its label.
// Not aware of decoding (decode.h), sample order, augmentation or networks.
//
// Errors: one line that names the file and, where there is one, the byte offset.
// Ownership: a source owns its open files. Thread safety: after it is opened, any number of threads
// may call the const methods.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/tensor.h"

namespace tench {

enum class SampleForm { kBytes, kReals, kWords, kJpeg, kPng };

// The largest label that a file may have; networks have far fewer classes.
inline constexpr int64_t kMaxLabel = (int64_t{1} << 31) - 1;

struct StoredSample {
  SampleForm form = SampleForm::kBytes;
  Shape shape;                 // kBytes and kReals: {C, H, W}
  std::string bytes;           // kBytes: C planes of H rows; kJpeg, kPng: the file's content
  std::vector<float> reals;    // kReals, in the same order
  std::vector<int32_t> words;  // kWords: word ids, without padding
  int64_t label = 0;
};

struct SourceFacts {
  std::string format;      // the name in `format:PATH`
  int64_t count = 0;       // samples
  int64_t classes = 0;     // 0 = unknown until every label is read
  Shape shape;             // {C, H, W}; {} for encoded images, whose sizes may differ, and words
  bool encoded = false;    // samples are, or may be, JPEG or PNG images
  int64_t vocabulary = 0;  // > 0: samples are word ids below it
  std::vector<std::string> class_names;      // in the order of the labels; may be empty
  std::vector<std::filesystem::path> files;  // all that determine the samples
};

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  const SourceFacts& facts() const { return facts_; }
  // Replaces the content of `sample`, whose memory is reused. `index` is from 0 to count - 1.
  virtual Status Read(int64_t index, StoredSample& sample) const = 0;
  // The file of a sample, and its offset or key, for messages.
  virtual std::string Where(int64_t index) const = 0;

 protected:
  SourceFacts facts_;
};

// What some formats need besides the path.
struct SourceOptions {
  int64_t vocabulary = 20'000;  // imdb: ids are below it
  bool test_split = false;      // imdb: of a folder with train/ and test/, or of a .npz file
  bool label_first = false;     // csv: the label is the first column instead of the last
  Shape shape;                  // csv: {C, H, W} of a row; {} = {columns, 1, 1}
};

struct SourceFormat {
  std::string name;
  std::string help;
  Result<std::unique_ptr<SampleSource>> (*open)(const std::filesystem::path& path,
                                                const SourceOptions& options);
};

// Every format, in the order of the documentation.
std::span<const SourceFormat> SourceFormats();
Result<std::unique_ptr<SampleSource>> OpenSource(std::string_view format,
                                                 const std::filesystem::path& path,
                                                 const SourceOptions& options = {});
// An unknown format is an error with a spelling hint.
Status CheckFormat(std::string_view format);
// The format of the files at a path, by names and first bytes.
Result<std::string> DetectFormat(const std::filesystem::path& path);

// The readers, one file each.
using OpenedSource = Result<std::unique_ptr<SampleSource>>;
OpenedSource OpenIdx(const std::filesystem::path& path, const SourceOptions& options);
OpenedSource OpenCifar10(const std::filesystem::path& path, const SourceOptions& options);
OpenedSource OpenCifar100(const std::filesystem::path& path, const SourceOptions& options);
OpenedSource OpenFolder(const std::filesystem::path& path, const SourceOptions& options);
OpenedSource OpenLmdb(const std::filesystem::path& path, const SourceOptions& options);
OpenedSource OpenImdb(const std::filesystem::path& path, const SourceOptions& options);
OpenedSource OpenReviewIds(const std::filesystem::path& path, const SourceOptions& options);
OpenedSource OpenCsv(const std::filesystem::path& path, const SourceOptions& options);
OpenedSource OpenHdf5(const std::filesystem::path& path, const SourceOptions& options);
OpenedSource OpenTfRecord(const std::filesystem::path& path, const SourceOptions& options);
OpenedSource OpenRecordIo(const std::filesystem::path& path, const SourceOptions& options);

}  // namespace tench
