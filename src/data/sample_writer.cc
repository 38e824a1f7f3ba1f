// SPDX-License-Identifier: Apache-2.0
#include "data/sample_writer.h"

#include <fcntl.h>
#include <lmdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/text.h"
#include "data/datum.h"
#include "data/image.h"
#include "data/record_file.h"

namespace tench {
namespace {

namespace fs = std::filesystem;

// A file that grows; reopened at a checkpoint, it is cut to its size then.
class GrowingFile {
 public:
  static Result<GrowingFile> Open(const fs::path& path, int64_t size) {
    GrowingFile file;
    file.path_ = path;
    file.size_ = size;
    file.fd_ = Fd(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    if (!file.fd_.valid()) return file.SystemError("cannot create");
    struct stat status {};
    if (fstat(file.fd_.get(), &status) != 0) return file.SystemError("cannot stat");
    if (status.st_size < size)
      return Failed("{}: it is shorter than at its checkpoint; remove the unfinished conversion",
                    path.string());
    if (ftruncate(file.fd_.get(), size) != 0) return file.SystemError("cannot truncate");
    return file;
  }

  Status Append(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t put = pwrite(fd_.get(), bytes.data(), bytes.size(), size_);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return SystemError("cannot write");
      size_ += put;
      bytes.remove_prefix(static_cast<size_t>(put));
    }
    return Ok();
  }
  Status Sync() { return fsync(fd_.get()) == 0 ? Ok() : Status(SystemError("cannot sync")); }
  int64_t size() const { return size_; }

 private:
  Error SystemError(std::string_view action) const {
    return Failed("{}: {}: {}", path_.string(), action, std::strerror(errno));
  }
  fs::path path_;
  Fd fd_;
  int64_t size_ = 0;
};

// The sample as an encoded image: bytes become a PNG, without loss.
Result<StoredSample> AsEncodedImage(const StoredSample& sample) {
  if (sample.form == SampleForm::kJpeg || sample.form == SampleForm::kPng) return sample;
  if (sample.form != SampleForm::kBytes)
    return Failed("the sample holds numbers or words, and cannot become an image");
  StoredSample image;
  image.form = SampleForm::kPng;
  image.label = sample.label;
  image.bytes =
      TENCH_TRY(EncodePng({sample.shape[0], sample.shape[1], sample.shape[2], sample.bytes}));
  return image;
}

class FolderWriter : public SampleWriter {
 public:
  FolderWriter(fs::path folder, const SourceFacts& facts)
      : folder_(std::move(folder)), names_(facts.class_names) {}

  Status Add(int64_t index, const StoredSample& sample) override {
    const StoredSample image = TENCH_TRY(AsEncodedImage(sample));
    const auto label = static_cast<size_t>(sample.label);
    // Digits, so that the order of the names is that of the labels.
    const fs::path folder =
        folder_ / (label < names_.size() ? names_[label] : fmt::format("{:010}", label));
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return Failed("{}: {}", folder.string(), error.message());
    const char* ending = image.form == SampleForm::kJpeg ? "jpg" : "png";
    return WriteFileAtomically(folder / fmt::format("{:08}.{}", index, ending), image.bytes);
  }
  // Every image is durable by itself.
  Result<std::vector<int64_t>> Checkpoint() override { return std::vector<int64_t>(); }

 private:
  fs::path folder_;
  std::vector<std::string> names_;
};

class TfRecordWriter : public SampleWriter {
 public:
  explicit TfRecordWriter(GrowingFile file) : file_(std::move(file)) {}

  Status Add(int64_t, const StoredSample& sample) override {
    return file_.Append(TfRecordOf(ExampleOf(TENCH_TRY(AsEncodedImage(sample)))));
  }
  Result<std::vector<int64_t>> Checkpoint() override {
    TENCH_TRY(file_.Sync());
    return std::vector<int64_t>{file_.size()};
  }

 private:
  GrowingFile file_;
};

class RecordIoWriter : public SampleWriter {
 public:
  explicit RecordIoWriter(GrowingFile file) : file_(std::move(file)) {}

  Status Add(int64_t index, const StoredSample& sample) override {
    constexpr int64_t kExactFloats = 1 << 24;  // the header's label is a float
    if (sample.label > kExactFloats)
      return Failed("RecordIO has labels up to {}, not {}", kExactFloats, sample.label);
    const ImageHeader header{0, static_cast<float>(sample.label), static_cast<uint64_t>(index), 0};
    return file_.Append(RecordIoOf(header, TENCH_TRY(AsEncodedImage(sample)).bytes));
  }
  Result<std::vector<int64_t>> Checkpoint() override {
    TENCH_TRY(file_.Sync());
    return std::vector<int64_t>{file_.size()};
  }

 private:
  GrowingFile file_;
};

std::string BigEndian(int64_t value) {
  const auto bits = static_cast<uint32_t>(value);
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(bits >> shift));
  return bytes;
}

class IdxWriter : public SampleWriter {
 public:
  static Result<std::unique_ptr<SampleWriter>> Make(const fs::path& folder,
                                                    const SourceFacts& facts,
                                                    const WriterCheckpoint& from) {
    if (facts.shape.size() != 3)
      return Failed("idx needs images of one known size: add resize= (and channels=)");
    const bool grey = facts.shape[0] == 1;
    const std::vector<int64_t> sizes =
        from.sizes.size() == 2 ? from.sizes : std::vector<int64_t>{0, 0};
    auto writer = std::unique_ptr<IdxWriter>(new IdxWriter(
        TENCH_TRY(GrowingFile::Open(
            folder / (grey ? "train-images-idx3-ubyte" : "train-images-idx4-ubyte"), sizes[0])),
        TENCH_TRY(GrowingFile::Open(folder / "train-labels-idx1-ubyte", sizes[1])), facts.shape));
    if (sizes[0] == 0) {
      std::string header = BigEndian(grey ? 0x803 : 0x804) + BigEndian(facts.count);
      for (size_t d = grey ? 1 : 0; d < 3; ++d) header += BigEndian(facts.shape[d]);
      TENCH_TRY(writer->images_.Append(header));
      TENCH_TRY(writer->labels_.Append(BigEndian(0x801) + BigEndian(facts.count)));
    }
    return std::unique_ptr<SampleWriter>(std::move(writer));
  }

  Status Add(int64_t, const StoredSample& sample) override {
    if (sample.form != SampleForm::kBytes) return Failed("idx holds bytes only");
    if (sample.shape != shape_)
      return Failed("the sample is {}, but the first one is {}", ToString(sample.shape),
                    ToString(shape_));
    if (sample.label > 255) return Failed("idx has labels up to 255, not {}", sample.label);
    TENCH_TRY(images_.Append(sample.bytes));
    return labels_.Append(std::string(1, static_cast<char>(sample.label)));
  }
  Result<std::vector<int64_t>> Checkpoint() override {
    TENCH_TRY(images_.Sync());
    TENCH_TRY(labels_.Sync());
    return std::vector<int64_t>{images_.size(), labels_.size()};
  }

 private:
  IdxWriter(GrowingFile images, GrowingFile labels, Shape shape)
      : images_(std::move(images)), labels_(std::move(labels)), shape_(std::move(shape)) {}
  GrowingFile images_, labels_;
  Shape shape_;
};

// Keys are numbers of 8 digits, as convert_imageset of Caffe begins them.
class LmdbWriter : public SampleWriter {
 public:
  static Result<std::unique_ptr<SampleWriter>> Make(const fs::path& folder) {
    // Address space, not disk. A limit of the process (ulimit -v, a sanitizer) may allow less.
    constexpr size_t kMostMapBytes = size_t{1} << 40, kLeastMapBytes = size_t{1} << 30;
    int code = 0;
    for (size_t bytes = kMostMapBytes; bytes >= kLeastMapBytes; bytes /= 4) {
      auto writer = std::unique_ptr<LmdbWriter>(new LmdbWriter(folder));
      code = writer->Open(bytes);
      if (code == 0) return std::unique_ptr<SampleWriter>(std::move(writer));
      if (code != ENOMEM) break;
    }
    return LmdbWriter(folder).Broken(code);
  }
  ~LmdbWriter() override {
    if (txn_ != nullptr) mdb_txn_abort(txn_);
    if (env_ != nullptr) mdb_env_close(env_);
  }
  LmdbWriter(const LmdbWriter&) = delete;
  LmdbWriter& operator=(const LmdbWriter&) = delete;

  Status Add(int64_t index, const StoredSample& sample) override {
    if (txn_ == nullptr) {
      if (const int code = mdb_txn_begin(env_, nullptr, 0, &txn_); code != 0) return Broken(code);
      if (const int code = mdb_dbi_open(txn_, nullptr, 0, &database_); code != 0)
        return Broken(code);
    }
    const std::string name = fmt::format("{:08}", index), message = TENCH_TRY(DatumOf(sample));
    MDB_val key{name.size(), const_cast<char*>(name.data())};
    MDB_val value{message.size(), const_cast<char*>(message.data())};
    if (const int code = mdb_put(txn_, database_, &key, &value, 0); code != 0) return Broken(code);
    return Ok();
  }
  Result<std::vector<int64_t>> Checkpoint() override {
    if (txn_ == nullptr) return std::vector<int64_t>();
    const int code = mdb_txn_commit(std::exchange(txn_, nullptr));
    if (code != 0) return Broken(code);
    return std::vector<int64_t>();
  }

 private:
  explicit LmdbWriter(fs::path folder) : folder_(std::move(folder)) {}
  // An error of LMDB or errno; 0 = open.
  int Open(size_t map_bytes) {
    int code = mdb_env_create(&env_);
    if (code == 0) code = mdb_env_set_mapsize(env_, map_bytes);
    if (code == 0) code = mdb_env_open(env_, folder_.c_str(), MDB_NOLOCK, 0666);
    return code;
  }
  Error Broken(int code) const { return Failed("{}: {}", folder_.string(), mdb_strerror(code)); }
  fs::path folder_;
  MDB_env* env_ = nullptr;
  MDB_txn* txn_ = nullptr;
  MDB_dbi database_ = 0;
};

}  // namespace

std::span<const std::string> WrittenFormats() {
  static const std::vector<std::string> formats = {"mnist", "folder", "lmdb", "tfrecord",
                                                   "recordio"};
  return formats;
}

Result<std::unique_ptr<SampleWriter>> MakeSampleWriter(std::string_view format,
                                                       const fs::path& content,
                                                       const SourceFacts& facts,
                                                       const WriterCheckpoint& from) {
  const std::vector<std::string> known(WrittenFormats().begin(), WrittenFormats().end());
  if (std::ranges::find(known, format) == known.end())
    return Failed("the format '{}' cannot be written (one of {}){}", Printable(format, 40),
                  Join(known, ", "), Hint(format, known));
  const int64_t size = from.sizes.size() == 1 ? from.sizes[0] : 0;
  if (format == "tfrecord" || format == "recordio") {
    GrowingFile file = TENCH_TRY(GrowingFile::Open(content, size));
    if (format == "recordio")
      return std::unique_ptr<SampleWriter>(std::make_unique<RecordIoWriter>(std::move(file)));
    return std::unique_ptr<SampleWriter>(std::make_unique<TfRecordWriter>(std::move(file)));
  }
  std::error_code error;
  fs::create_directories(content, error);
  if (error) return Failed("{}: {}", content.string(), error.message());
  if (format == "mnist") return IdxWriter::Make(content, facts, from);
  if (format == "lmdb") return LmdbWriter::Make(content);
  return std::unique_ptr<SampleWriter>(std::make_unique<FolderWriter>(content, facts));
}

}  // namespace tench
