// SPDX-License-Identifier: Apache-2.0
// A network message is the concatenation of its fields, and a layer's length follows from its
// shapes. So blobs are streamed, and only one of them is in memory at a time.
#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "base/file.h"
#include "net/caffe/caffemodel.h"
#include "net/caffe/schema.pb.h"

namespace tench {
namespace {

using google::protobuf::io::CodedOutputStream;

constexpr uint32_t kLengthDelimited = 2;
constexpr uint32_t Tag(int field) { return static_cast<uint32_t>(field) << 3 | kLengthDelimited; }
constexpr int kNetName = 1, kNetLayer = 100, kLayerBlobs = 7, kBlobData = 5;

// A layer to write, and the parameters that are its blobs. An extra blob holds the scale factor.
struct LayerPlan {
  std::string name, type;
  std::vector<const Parameter*> blobs;
  double factor = 0;  // > 0: the blobs are statistics times this, and one more blob holds it
};

std::vector<LayerPlan> PlanLayers(const TypedGraph& graph,
                                  const std::vector<std::optional<BlobPlace>>& places) {
  std::vector<LayerPlan> plans;
  for (size_t i = 0; i < places.size(); ++i) {
    if (!places[i]) continue;
    const auto same = [&](const LayerPlan& plan) {
      return plan.name == places[i]->layer && plan.type == places[i]->type;
    };
    auto plan = std::find_if(plans.begin(), plans.end(), same);
    if (plan == plans.end())
      plan = plans.insert(plans.end(), {places[i]->layer, places[i]->type, {}, 0});
    plan->blobs.push_back(&graph.parameters[i]);
    const Op& op = graph.layers[graph.parameters[i].layer].layer.op;
    if (places[i]->summed) plan->factor = StatisticsFactor(std::get<BatchNorm>(op));
  }
  return plans;
}

// The encoding of a blob up to its values.
std::string BlobHead(const Shape& shape) {
  caffe::BlobProto blob;
  for (const int64_t size : shape) blob.mutable_shape()->add_dim(size);
  return blob.SerializeAsString();
}

uint64_t FieldSize(int field, uint64_t length) {
  return CodedOutputStream::VarintSize32(Tag(field)) + CodedOutputStream::VarintSize64(length) +
         length;
}

uint64_t BlobSize(const Shape& shape) {
  return BlobHead(shape).size() +
         FieldSize(kBlobData, sizeof(float) * static_cast<uint64_t>(ElementCount(shape)));
}

class Stream {
 public:
  Stream(int fd, const ParameterSource& source) : file_(fd), source_(source) {}

  void String(int field, const std::string& text) {
    Field(field, text.size()), Raw(text.data(), text.size());
  }

  Status Layer(const LayerPlan& plan) {
    caffe::LayerParameter head;
    head.set_name(plan.name);
    head.set_type(plan.type);
    const std::string start = head.SerializeAsString();
    uint64_t size = start.size();
    for (const Parameter* blob : plan.blobs) size += FieldSize(kLayerBlobs, BlobSize(blob->shape));
    if (plan.factor > 0) size += FieldSize(kLayerBlobs, BlobSize({1}));
    Field(kNetLayer, size);
    Raw(start.data(), start.size());
    for (const Parameter* blob : plan.blobs) TENCH_TRY(Numbers(*blob, plan.factor));
    if (plan.factor > 0) Blob({1}, std::vector<float>{static_cast<float>(plan.factor)});
    return Ok();
  }

  bool Finish() {
    coded_.Trim();
    return !coded_.HadError() && file_.Flush();
  }
  int64_t bytes() const { return coded_.ByteCount(); }

 private:
  void Field(int field, uint64_t length) {
    coded_.WriteTag(Tag(field));
    coded_.WriteVarint64(length);
  }
  void Raw(const void* data, size_t size) {
    const char* from = static_cast<const char*>(data);
    for (size_t at = 0; at < size; at += kChunk)
      coded_.WriteRaw(from + at, static_cast<int>(std::min(kChunk, size - at)));
  }
  void Blob(const Shape& shape, std::span<const float> values) {
    const std::string head = BlobHead(shape);
    Field(kLayerBlobs, BlobSize(shape));
    Field(kBlobData, values.size_bytes());
    Raw(values.data(), values.size_bytes());
    Raw(head.data(), head.size());
  }
  Status Numbers(const Parameter& parameter, double factor) {
    values_.resize(static_cast<size_t>(ElementCount(parameter.shape)));
    TENCH_TRY(source_(parameter, values_));
    if (factor > 0) {
      for (float& value : values_) value *= static_cast<float>(factor);
    }
    Blob(parameter.shape, values_);
    return Ok();
  }

  static constexpr size_t kChunk = size_t{1} << 28;
  google::protobuf::io::FileOutputStream file_;
  CodedOutputStream coded_{&file_};
  const ParameterSource& source_;
  std::vector<float> values_;
};

Status CheckSize(const std::vector<LayerPlan>& plans) {
  uint64_t total = 0;
  for (const LayerPlan& plan : plans) {
    for (const Parameter* blob : plan.blobs) total += BlobSize(blob->shape);
  }
  if (total < static_cast<uint64_t>(std::numeric_limits<int>::max()) - (1 << 20)) return Ok();
  return Failed("the weights do not fit the 2 GiB that a .caffemodel can have");
}

Status WriteTo(int fd, const TypedGraph& graph, const std::vector<LayerPlan>& plans,
               const ParameterSource& source) {
  Stream stream(fd, source);
  stream.String(kNetName, graph.name);
  for (const LayerPlan& plan : plans) TENCH_TRY(stream.Layer(plan));
  if (!stream.Finish()) return Failed("{}", std::strerror(errno));
  return Ok();
}

}  // namespace

Status WriteCaffemodel(const std::filesystem::path& path, const TypedGraph& graph,
                       const CaffeNames& names, const ParameterSource& source) {
  const auto places = TENCH_TRY(BlobPlaces(graph, names));
  const std::vector<LayerPlan> plans = PlanLayers(graph, places);
  TENCH_TRY(CheckSize(plans).In(path.string()));
  const std::filesystem::path temporary =
      path.parent_path() / fmt::format(".{}.{}.tmp", path.filename().string(), getpid());
  Fd file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.valid()) return Failed("{}: cannot write: {}", path.string(), std::strerror(errno));
  Status written = WriteTo(file.get(), graph, plans, source);
  if (written.ok() && fsync(file.get()) != 0) written = Failed("{}", std::strerror(errno));
  if (written.ok() && rename(temporary.c_str(), path.c_str()) != 0)
    written = Failed("{}", std::strerror(errno));
  if (!written.ok()) unlink(temporary.c_str());
  return std::move(written).In(path.string());
}

}  // namespace tench
