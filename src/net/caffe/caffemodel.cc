// SPDX-License-Identifier: Apache-2.0
// A hand-written parser of the wire format. It reads a few fields of three messages (network,
// layer, blob) and skips the others by wire type. protobuf's generated parser would copy every
// value.
#include "net/caffe/caffemodel.h"

#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace tench {
namespace {

using google::protobuf::io::CodedInputStream;
using WireFormat = google::protobuf::internal::WireFormatLite;

// The limit of protobuf, and therefore of Caffe.
constexpr size_t kMostModelBytes = std::numeric_limits<int>::max();
constexpr size_t kMaxDimensions = 32;  // Caffe's limit
constexpr size_t kMaxLayersInFile = 100'000;

Error Broken(std::string_view where) { return Failed("{} is broken or cut off", where); }

// Calls `field(number, wire type, stream)` for every field of a message. It returns true if it
// consumed the value; an error ends the walk.
template <class OnField>
Status WalkMessage(std::string_view bytes, std::string_view where, OnField& field) {
  CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
  while (const uint32_t tag = stream.ReadTag()) {
    const bool taken = TENCH_TRY(
        field(WireFormat::GetTagFieldNumber(tag), WireFormat::GetTagWireType(tag), stream));
    if (!taken && !WireFormat::SkipField(&stream, tag)) return Broken(where);
  }
  if (!stream.ConsumedEntireMessage()) return Broken(where);
  return Ok();
}

// The bytes of a length-delimited field, without copying them.
Result<std::string_view> ReadBytes(CodedInputStream& stream, std::string_view where) {
  uint32_t length = 0;
  const void* data = nullptr;
  int available = 0;
  if (!stream.ReadVarint32(&length)) return Broken(where);
  // An empty value at the end of the buffer has no direct pointer.
  if (length == 0) return std::string_view();
  if (!stream.GetDirectBufferPointer(&data, &available) ||
      length > static_cast<uint32_t>(available))
    return Broken(where);
  if (!stream.Skip(static_cast<int>(length))) return Broken(where);
  return std::string_view(static_cast<const char*>(data), length);
}

Status ReadDimensions(std::string_view bytes, std::string_view where, Shape& shape) {
  auto on_field = [&](int number, WireFormat::WireType type,
                      CodedInputStream& stream) -> Result<bool> {
    if (number != 1) return false;
    std::string_view packed;
    uint64_t value = 0;
    if (type == WireFormat::WIRETYPE_VARINT) {
      if (!stream.ReadVarint64(&value)) return Broken(where);
      shape.push_back(static_cast<int64_t>(value));
    } else if (type == WireFormat::WIRETYPE_LENGTH_DELIMITED) {
      packed = TENCH_TRY(ReadBytes(stream, where));
      CodedInputStream dims(reinterpret_cast<const uint8_t*>(packed.data()),
                            static_cast<int>(packed.size()));
      while (dims.CurrentPosition() < static_cast<int>(packed.size())) {
        if (!dims.ReadVarint64(&value)) return Broken(where);
        if (shape.size() > kMaxDimensions) break;
        shape.push_back(static_cast<int64_t>(value));
      }
    } else {
      return Broken(where);
    }
    if (shape.size() > kMaxDimensions)
      return Failed("{} has more than {} sizes", where, kMaxDimensions);
    return true;
  };
  return WalkMessage(bytes, where, on_field);
}

Status CheckBlob(const CaffeBlob& blob, std::string_view where) {
  int64_t expected = 1;
  for (const int64_t size : blob.shape) {
    if (size < 0 || __builtin_mul_overflow(expected, size, &expected))
      return Failed("{} has the shape {}", where, ToString(blob.shape));
  }
  if (expected != blob.count())
    return Failed("{} has the shape {} but {} values", where, ToString(blob.shape), blob.count());
  return Ok();
}

// Collects the fields of one blob, in any order.
struct BlobFields {
  const std::string& where;
  CaffeBlob blob = {};
  Shape legacy = Shape(4, 0);
  bool shaped = false, floats = false;

  Result<bool> operator()(int number, WireFormat::WireType type, CodedInputStream& stream) {
    if (number >= 1 && number <= 4 && type == WireFormat::WIRETYPE_VARINT) {
      uint64_t value = 0;
      if (!stream.ReadVarint64(&value)) return Broken(where);
      legacy[static_cast<size_t>(number - 1)] = static_cast<int32_t>(value);
      return true;
    }
    if (number == 7 && type == WireFormat::WIRETYPE_LENGTH_DELIMITED) {
      shaped = true;
      const std::string_view bytes = TENCH_TRY(ReadBytes(stream, where));
      TENCH_TRY(ReadDimensions(bytes, where, blob.shape));
      return true;
    }
    if (number != 5 && number != 8) return false;
    (number == 5 ? floats : blob.doubles) = true;
    if (floats && blob.doubles) return Failed("{} has both floats and doubles", where);
    const std::string_view run = TENCH_TRY(Run(type, stream));
    if (!run.empty()) blob.runs.push_back(run);
    return true;
  }

  Result<std::string_view> Run(WireFormat::WireType type, CodedInputStream& stream) const {
    const size_t width = blob.doubles ? sizeof(double) : sizeof(float);
    if (type == WireFormat::WIRETYPE_LENGTH_DELIMITED) {
      const std::string_view run = TENCH_TRY(ReadBytes(stream, where));
      if (run.size() % width != 0) return Broken(where);
      return run;
    }
    // One value per field: the encoding of files from before packed fields.
    const void* data = nullptr;
    int available = 0;
    if (type != (blob.doubles ? WireFormat::WIRETYPE_FIXED64 : WireFormat::WIRETYPE_FIXED32) ||
        !stream.GetDirectBufferPointer(&data, &available) ||
        static_cast<size_t>(available) < width || !stream.Skip(static_cast<int>(width))) {
      return Broken(where);
    }
    return std::string_view(static_cast<const char*>(data), width);
  }
};

Result<CaffeBlob> ReadBlob(std::string_view bytes, const std::string& where) {
  BlobFields fields{where};
  TENCH_TRY(WalkMessage(bytes, where, fields));
  if (!fields.shaped) fields.blob.shape = fields.legacy;
  TENCH_TRY(CheckBlob(fields.blob, where));
  return std::move(fields.blob);
}

// The numbers of a layer's fields; 0 = it has none. The type of a V1 layer is a number.
struct LayerFields {
  int name, type, blobs, v0;
};
constexpr LayerFields kLayerFields{1, 2, 7, 0}, kV1Fields{4, 0, 6, 1};

Result<CaffeLayer> ReadWeightsLayer(std::string_view bytes, const LayerFields& fields,
                                    size_t number) {
  CaffeLayer layer;
  std::vector<std::string_view> blobs;
  const std::string unnamed = fmt::format("layer {}", number + 1);
  auto on_field = [&](int field, WireFormat::WireType type,
                      CodedInputStream& stream) -> Result<bool> {
    if (type != WireFormat::WIRETYPE_LENGTH_DELIMITED) return false;
    if (field == fields.v0)
      return Failed(
          "it has layers in Caffe's V0 format; convert it with Caffe's tool: "
          "upgrade_net_proto_binary OLD NEW");
    if (field != fields.name && field != fields.type && field != fields.blobs) return false;
    const std::string_view value = TENCH_TRY(ReadBytes(stream, unnamed));
    if (field == fields.name) layer.name = value;
    if (field == fields.type) layer.type = value;
    if (field == fields.blobs) blobs.push_back(value);
    return true;
  };
  TENCH_TRY(WalkMessage(bytes, unnamed, on_field));
  // The name may follow the blobs, and errors contain it.
  for (size_t i = 0; i < blobs.size(); ++i) {
    const std::string where = fmt::format("layer '{}': blob {}", Printable(layer.name), i);
    layer.blobs.push_back(TENCH_TRY(ReadBlob(blobs[i], where)));
  }
  return layer;
}

}  // namespace

int64_t CaffeBlob::count() const {
  size_t bytes = 0;
  for (const std::string_view run : runs) bytes += run.size();
  return static_cast<int64_t>(bytes / (doubles ? sizeof(double) : sizeof(float)));
}

void CaffeBlob::CopyTo(std::span<float> out) const {
  Check(out.size() == static_cast<size_t>(count()), "a blob is copied to a place of another size");
  float* to = out.data();
  for (const std::string_view run : runs) {
    if (!doubles) {
      std::memcpy(to, run.data(), run.size());
      to += run.size() / sizeof(float);
      continue;
    }
    for (size_t at = 0; at < run.size(); at += sizeof(double)) {
      double value;  // the file has no alignment
      std::memcpy(&value, run.data() + at, sizeof value);
      *to++ = static_cast<float>(value);
    }
  }
}

Result<std::vector<CaffeLayer>> ParseCaffemodel(std::string_view bytes) {
  if (bytes.size() > kMostModelBytes)
    return Failed("{} are more than the 2 GiB that a file of this format can have",
                  HumanBytes(static_cast<int64_t>(bytes.size())));
  std::vector<CaffeLayer> layers;
  size_t seen = 0;
  auto on_field = [&](int number, WireFormat::WireType type,
                      CodedInputStream& stream) -> Result<bool> {
    if ((number != 100 && number != 2) || type != WireFormat::WIRETYPE_LENGTH_DELIMITED)
      return false;
    if (seen == kMaxLayersInFile) return Failed("it has more than {} layers", kMaxLayersInFile);
    const std::string_view message = TENCH_TRY(ReadBytes(stream, "the file"));
    CaffeLayer layer =
        TENCH_TRY(ReadWeightsLayer(message, number == 2 ? kV1Fields : kLayerFields, seen++));
    if (!layer.blobs.empty()) layers.push_back(std::move(layer));
    return true;
  };
  TENCH_TRY(WalkMessage(bytes, "the file", on_field));
  if (seen == 0) return Failed("it has no layers: it is not a .caffemodel");
  return layers;
}

Result<Caffemodel> Caffemodel::Open(const std::filesystem::path& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts;
  if (!file.valid() || fstat(file.get(), &facts) != 0)
    return Failed("{}: {}", path.string(), std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) return Failed("{}: not a file", path.string());
  if (facts.st_size == 0) return Failed("{}: the file is empty", path.string());
  Caffemodel model;
  model.size_ = static_cast<size_t>(facts.st_size);
  void* mapping = mmap(nullptr, model.size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapping == MAP_FAILED) return Failed("{}: {}", path.string(), std::strerror(errno));
  model.mapping_ = mapping;
  madvise(mapping, model.size_, MADV_WILLNEED);
  model.layers_ = TENCH_TRY(
      ParseCaffemodel({static_cast<const char*>(mapping), model.size_}).In(path.string()));
  return model;
}

Caffemodel::Caffemodel(Caffemodel&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      size_(other.size_),
      layers_(std::move(other.layers_)) {}

Caffemodel::~Caffemodel() {
  if (mapping_ != nullptr) munmap(mapping_, size_);
}

}  // namespace tench
