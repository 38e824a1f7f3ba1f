// SPDX-License-Identifier: Apache-2.0
// Files of records: TensorFlow's TFRecord of Example messages, and MXNet's RecordIO of an image
// header and an image. The positions of the records are found when the file is opened.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "data/byte_file.h"
#include "data/datum.h"
#include "data/image.h"
#include "data/record_file.h"
#include "data/sample_source.h"

namespace tench {
namespace {

namespace fs = std::filesystem;

template <class T>
Result<T> LoadAt(const ByteFile& file, int64_t offset) {
  T value;
  TENCH_TRY(file.Read(offset, &value, sizeof value));
  return value;
}

class RecordSource : public SampleSource {
 public:
  RecordSource(const fs::path& path, ByteFile file) : file_(std::move(file)) {
    facts_.encoded = true;
    facts_.files = {path};
  }
  std::string Where(int64_t index) const override {
    return fmt::format("{}: offset {}", file_.name(), offsets_[static_cast<size_t>(index)]);
  }

 protected:
  Status Count() {
    if (offsets_.empty()) return file_.At(0, "the file has no records");
    facts_.count = static_cast<int64_t>(offsets_.size());
    return Ok();
  }

  ByteFile file_;
  std::vector<int64_t> offsets_;
};

class TfRecordSource : public RecordSource {
 public:
  using RecordSource::RecordSource;

  Status Scan() {
    facts_.format = "tfrecord";
    for (int64_t offset = 0; offset < file_.size();) {
      const auto length = TENCH_TRY(LoadAt<uint64_t>(file_, offset));
      const auto checksum = TENCH_TRY(LoadAt<uint32_t>(file_, offset + 8));
      const std::string_view bytes(reinterpret_cast<const char*>(&length), sizeof length);
      if (checksum != MaskedCrc32c(bytes)) return file_.At(offset, "not a TFRecord");
      if (length > static_cast<uint64_t>(file_.size()))
        return file_.At(file_.size(),
                        fmt::format("the file is truncated: a record at offset {} has {} bytes",
                                    offset, length));
      offsets_.push_back(offset);
      offset += static_cast<int64_t>(length) + kTfRecordFraming;
      if (offset > file_.size())
        return file_.At(file_.size(), fmt::format("the file is truncated: the record at offset {} "
                                                  "ends at {}",
                                                  offsets_.back(), offset));
    }
    return Count();
  }

  Status Read(int64_t index, StoredSample& sample) const override {
    const int64_t offset = offsets_[static_cast<size_t>(index)];
    const auto length = TENCH_TRY(LoadAt<uint64_t>(file_, offset));
    const std::string message = TENCH_TRY(file_.ReadString(offset + 12, length));
    const auto checksum =
        TENCH_TRY(LoadAt<uint32_t>(file_, offset + 12 + static_cast<int64_t>(length)));
    if (checksum != MaskedCrc32c(message)) return file_.At(offset, "the record's checksum differs");
    return ParseExample(message, sample).In(Where(index));
  }
};

class RecordIoSource : public RecordSource {
 public:
  using RecordSource::RecordSource;

  Status Scan() {
    facts_.format = "recordio";
    for (int64_t offset = 0; offset < file_.size();) {
      const Part part = TENCH_TRY(PartAt(offset));
      if (part.flag == kWhole || part.flag == kFirst) offsets_.push_back(offset);
      offset = part.end;
    }
    return Count();
  }

  Status Read(int64_t index, StoredSample& sample) const override {
    int64_t offset = offsets_[static_cast<size_t>(index)];
    std::string record;
    for (bool more = true; more;) {
      const Part part = TENCH_TRY(PartAt(offset));
      // The writer cuts a record where the magic number occurs in it, and leaves the number out.
      if (!record.empty() || (part.flag != kWhole && part.flag != kFirst))
        record.append(reinterpret_cast<const char*>(&kRecordIoMagic), sizeof kRecordIoMagic);
      record += TENCH_TRY(file_.ReadString(part.begin, part.size));
      more = part.flag == kFirst || part.flag == kMiddle;
      offset = part.end;
    }
    ImageHeader header;
    if (record.size() < sizeof header)
      return Failed("{}: a record of {} bytes has no image header", Where(index), record.size());
    std::memcpy(&header, record.data(), sizeof header);
    size_t begin = sizeof header;
    if (header.flag > 0) {  // a list of labels, of which one is a class
      if (header.flag != 1 || record.size() < begin + sizeof(float))
        return Failed("{}: {} labels instead of one", Where(index), header.flag);
      std::memcpy(&header.label, record.data() + begin, sizeof(float));
      begin += sizeof(float);
    }
    if (!(header.label >= 0 && header.label <= 16'777'216) ||
        header.label != std::floor(header.label))
      return Failed("{}: the label {} is no class number", Where(index), header.label);
    sample.label = static_cast<int64_t>(header.label);
    sample.bytes = record.substr(begin);
    if (!IsJpeg(sample.bytes) && !IsPng(sample.bytes))
      return Failed("{}: its image is neither JPEG nor PNG", Where(index));
    sample.form = IsJpeg(sample.bytes) ? SampleForm::kJpeg : SampleForm::kPng;
    return Ok();
  }

 private:
  enum Flag : uint32_t { kWhole = 0, kFirst = 1, kMiddle = 2, kLast = 3 };
  struct Part {
    uint32_t flag;
    int64_t begin, end;  // of the content, of the padded content
    size_t size;
  };

  Result<Part> PartAt(int64_t offset) const {
    if (TENCH_TRY(LoadAt<uint32_t>(file_, offset)) != kRecordIoMagic)
      return file_.At(offset, "not a RecordIO record");
    const auto word = TENCH_TRY(LoadAt<uint32_t>(file_, offset + 4));
    Part part{word >> 29, offset + 8, 0, word & ((1u << 29) - 1)};
    part.end = part.begin + static_cast<int64_t>((part.size + 3) / 4 * 4);
    if (part.flag > kLast) return file_.At(offset + 4, "a record part of an unknown kind");
    if (part.end > file_.size())
      return file_.At(file_.size(), fmt::format("the file is truncated: the record at offset {} "
                                                "ends at {}",
                                                offset, part.end));
    return part;
  }
};

template <class Source>
OpenedSource OpenRecords(const fs::path& path) {
  auto source = std::make_unique<Source>(path, TENCH_TRY(ByteFile::Open(path)));
  TENCH_TRY(source->Scan());
  return OpenedSource(std::move(source));
}

}  // namespace

OpenedSource OpenTfRecord(const fs::path& path, const SourceOptions&) {
  return OpenRecords<TfRecordSource>(path);
}
OpenedSource OpenRecordIo(const fs::path& path, const SourceOptions&) {
  return OpenRecords<RecordIoSource>(path);
}

}  // namespace tench
