// SPDX-License-Identifier: Apache-2.0
// CIFAR-10's and CIFAR-100's binary files: records of one label byte (CIFAR-100: the coarse and the
// fine label) and 3 × 32 × 32 bytes. A folder is its training files.
#include <algorithm>

#include "data/byte_file.h"
#include "data/sample_source.h"

namespace tench {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kImageBytes = 3 * 32 * 32;

struct Layout {
  const char* format;
  const char* names;    // a file of them, for messages
  int64_t label_bytes;  // the last one counts
  int64_t classes;
};
constexpr Layout kCifar10{"cifar10", "data_batch_1.bin", 1, 10};
constexpr Layout kCifar100{"cifar100", "train.bin", 2, 100};

class CifarSource : public SampleSource {
 public:
  static OpenedSource Open(const std::vector<fs::path>& paths, const Layout& layout) {
    auto source = std::unique_ptr<CifarSource>(new CifarSource(layout));
    for (const fs::path& path : paths) {
      Part part{TENCH_TRY(ByteFile::Open(path)), source->facts_.count};
      const int64_t records = part.file.size() / source->record_bytes_;
      const int64_t rest = part.file.size() % source->record_bytes_;
      if (records == 0 || rest != 0)
        return part.file.At(part.file.size(),
                            fmt::format("the file is truncated: record {} has {} of {} bytes",
                                        records, rest, source->record_bytes_));
      source->facts_.count += records;
      source->parts_.push_back(std::move(part));
    }
    source->facts_.files = paths;
    return OpenedSource(std::move(source));
  }

  Status Read(int64_t index, StoredSample& sample) const override {
    const Part& part = PartOf(index);
    const int64_t offset = (index - part.first) * record_bytes_;
    sample.form = SampleForm::kBytes;
    sample.shape = facts_.shape;
    sample.bytes.resize(static_cast<size_t>(kImageBytes));
    unsigned char label = 0;
    TENCH_TRY(part.file.Read(offset + layout_.label_bytes - 1, &label, 1));
    if (label >= layout_.classes)
      return part.file.At(
          offset + layout_.label_bytes - 1,
          fmt::format("the label {} is not from 0 to {}", label, layout_.classes - 1));
    sample.label = label;
    return part.file.Read(offset + layout_.label_bytes, sample.bytes.data(), sample.bytes.size());
  }

  std::string Where(int64_t index) const override {
    const Part& part = PartOf(index);
    return fmt::format("{}: offset {}", part.file.name(), (index - part.first) * record_bytes_);
  }

 private:
  struct Part {
    ByteFile file;
    int64_t first;  // index of its first sample
  };

  explicit CifarSource(const Layout& layout)
      : layout_(layout), record_bytes_(layout.label_bytes + kImageBytes) {
    facts_.format = layout.format;
    facts_.classes = layout.classes;
    facts_.shape = {3, 32, 32};
  }

  const Part& PartOf(int64_t index) const {
    const auto after = std::upper_bound(parts_.begin(), parts_.end(), index,
                                        [](int64_t i, const Part& part) { return i < part.first; });
    return *std::prev(after);
  }

  Layout layout_;
  int64_t record_bytes_;
  std::vector<Part> parts_;
};

OpenedSource OpenCifar(const fs::path& path, const Layout& layout) {
  if (!fs::is_directory(path)) return CifarSource::Open({path}, layout);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    if ((name.starts_with("data_batch") || name.starts_with("train")) && name.ends_with(".bin"))
      files.push_back(entry.path());
  }
  if (files.empty())
    return Failed("{}: no training files such as {} in this folder", path.string(), layout.names);
  std::sort(files.begin(), files.end());
  return CifarSource::Open(files, layout);
}

}  // namespace

OpenedSource OpenCifar10(const fs::path& path, const SourceOptions&) {
  return OpenCifar(path, kCifar10);
}
OpenedSource OpenCifar100(const fs::path& path, const SourceOptions&) {
  return OpenCifar(path, kCifar100);
}

}  // namespace tench
