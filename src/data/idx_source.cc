// SPDX-License-Identifier: Apache-2.0
// MNIST's idx files, plain or .gz: a file of unsigned bytes with 3 dimensions (N, H, W) or 4
// (N, C, H, W), and a file of N labels beside it. All numbers are big-endian.
#include "base/text.h"
#include "data/byte_file.h"
#include "data/sample_source.h"

namespace tench {
namespace {

namespace fs = std::filesystem;
constexpr uint32_t kUnsignedBytes = 0x08;  // the type in the third byte
constexpr int64_t kMaxIdxSide = 65'536;

struct IdxFile {
  ByteFile file;
  Shape shape;        // with N
  int64_t begin = 0;  // of the values
};

Result<IdxFile> OpenIdxFile(const fs::path& path) {
  IdxFile idx{TENCH_TRY(ByteFile::Open(path)), {}, 0};
  const uint32_t magic = TENCH_TRY(idx.file.ReadBigEndian(0));
  const uint32_t dimensions = magic & 0xff;
  if (magic >> 8 != kUnsignedBytes || dimensions < 1 || dimensions > 4)
    return idx.file.At(0, fmt::format("not an idx file of unsigned bytes (magic {:#010x})", magic));
  int64_t bytes = 1;
  for (uint32_t d = 0; d < dimensions; ++d) {
    const int64_t offset = 4 + 4 * int64_t{d};
    const int64_t size = TENCH_TRY(idx.file.ReadBigEndian(offset));
    if (size == 0 || (d > 0 && size > kMaxIdxSide) || __builtin_mul_overflow(bytes, size, &bytes))
      return idx.file.At(offset, fmt::format("a dimension of {}", size));
    idx.shape.push_back(size);
  }
  idx.begin = 4 + 4 * int64_t{dimensions};
  if (bytes > idx.file.size() - idx.begin)
    return idx.file.At(idx.file.size(),
                       fmt::format("the file is truncated: {} values need {} bytes",
                                   ToString(idx.shape), bytes + idx.begin));
  if (bytes < idx.file.size() - idx.begin)
    return idx.file.At(idx.begin + bytes, "unexpected bytes after the last value");
  return idx;
}

fs::path WithGz(fs::path path) {
  if (!fs::exists(path)) path += ".gz";
  return path;
}

// "train-images-idx3-ubyte.gz" → "train-labels-idx1-ubyte", with or without ".gz".
Result<fs::path> LabelsOf(const fs::path& images) {
  std::string name = images.filename().string();
  const size_t at = name.rfind("images");
  if (at == std::string::npos)
    return Failed("{}: the name of an idx file of images must contain 'images'", images.string());
  name.replace(at, 6, "labels");
  for (const std::string_view digit : {"idx3", "idx4"}) {
    if (const size_t idx = name.rfind(digit); idx != std::string::npos) name[idx + 3] = '1';
  }
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return WithGz(images.parent_path() / name);
}

class IdxSource : public SampleSource {
 public:
  static OpenedSource Open(const fs::path& images_path, const fs::path& labels_path) {
    auto source = std::unique_ptr<IdxSource>(new IdxSource);
    source->images_ = TENCH_TRY(OpenIdxFile(images_path));
    source->labels_ = TENCH_TRY(OpenIdxFile(labels_path));
    const Shape& shape = source->images_.shape;
    if (shape.size() < 3)
      return source->images_.file.At(
          3, fmt::format("images have 3 or 4 dimensions, not {}", shape.size()));
    if (source->labels_.shape.size() != 1)
      return source->labels_.file.At(
          3, fmt::format("labels have 1 dimension, not {}", source->labels_.shape.size()));
    if (source->labels_.shape[0] != shape[0])
      return source->labels_.file.At(
          4, fmt::format("{} labels, but {} has {} images", source->labels_.shape[0],
                         source->images_.file.name(), shape[0]));
    SourceFacts& facts = source->facts_;
    facts.format = "mnist";
    facts.count = shape[0];
    facts.shape =
        shape.size() == 3 ? Shape{1, shape[1], shape[2]} : Shape(shape.begin() + 1, shape.end());
    facts.files = {images_path, labels_path};
    source->label_bytes_ = TENCH_TRY(
        source->labels_.file.ReadString(source->labels_.begin, static_cast<size_t>(facts.count)));
    for (const char label : source->label_bytes_)
      facts.classes = std::max<int64_t>(facts.classes, int64_t{static_cast<uint8_t>(label)} + 1);
    return OpenedSource(std::move(source));
  }

  Status Read(int64_t index, StoredSample& sample) const override {
    const size_t size = static_cast<size_t>(ElementCount(facts_.shape));
    sample.form = SampleForm::kBytes;
    sample.shape = facts_.shape;
    sample.bytes.resize(size);
    sample.label = static_cast<uint8_t>(label_bytes_[static_cast<size_t>(index)]);
    return images_.file.Read(Offset(index), sample.bytes.data(), size);
  }

  std::string Where(int64_t index) const override {
    return fmt::format("{}: offset {}", images_.file.name(), Offset(index));
  }

 private:
  int64_t Offset(int64_t index) const { return images_.begin + index * ElementCount(facts_.shape); }

  IdxFile images_, labels_;
  std::string label_bytes_;
};

}  // namespace

OpenedSource OpenIdx(const fs::path& path, const SourceOptions&) {
  fs::path images = path;
  if (fs::is_directory(path)) {
    images = WithGz(path / "train-images-idx3-ubyte");
    if (!fs::exists(images)) images = WithGz(path / "train-images-idx4-ubyte");
    if (!fs::exists(images))
      return Failed(
          "{}: no train-images-idx3-ubyte[.gz] in this folder (name a file to read "
          "another)",
          path.string());
  }
  return IdxSource::Open(images, TENCH_TRY(LabelsOf(images)));
}

}  // namespace tench
