// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/input_reader.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "net/caffe/filler.h"
#include "net/graph.h"

namespace tench {
namespace {

constexpr std::string_view kRemark = "# tench: ";

Result<Shape> ParseShape(std::string_view text) {
  Shape shape;
  for (const std::string& part : Split(text, 'x')) shape.push_back(TENCH_TRY(ParseInteger(part)));
  return shape;
}

// The data that the names in the file suggest, for the hint in an error.
struct Likely {
  std::string_view data, shape;
};

Likely LikelyData(const std::string& source, const std::string& network) {
  static constexpr std::pair<std::string_view, Likely> kKnown[] = {
      {"mnist", {"mnist", "1x28x28"}},
      {"lenet", {"mnist", "1x28x28"}},
      {"cifar", {"cifar10", "3x32x32"}}};
  std::string text = source + '\n' + network;
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  for (const auto& [part, likely] : kKnown) {
    if (text.find(part) != std::string::npos) return likely;
  }
  return {"imagenet", "3x224x224"};
}

std::string SourceOf(const caffe::LayerParameter& layer) {
  return layer.data_param().source() + layer.image_data_param().source() +
         layer.hdf5_data_param().source();
}

class DataReader {
 public:
  DataReader(const DataFacts& facts, const std::string& source) : facts_(facts), source_(source) {}

  // A top whose full shape, including the batch, is in the file.
  Status AddWhole(const std::string& top, const Shape& shape,
                  const caffe::FillerParameter* filler) {
    if (shape.empty()) return Failed("the shape of '{}' has no batch size", Printable(top));
    CaffeInput input{top, {}, shape[0], false, ""};
    if (!facts_.labels.contains(top) && shape.size() > 1)
      TENCH_TRY(CheckGiven(top, {shape.begin() + 1, shape.end()}));
    if (shape[0] < 1 || shape[0] > kMaxSize)
      return Failed("the batch size is {}; it must be from 1 to {}", shape[0], kMaxSize);
    TENCH_TRY(SetFill(input, {shape.begin() + 1, shape.end()}, filler));
    inputs_.push_back(std::move(input));
    return Ok();
  }

  // A top whose batch size is in the file; `sample` is empty if the shape of a sample is not.
  Status AddSample(const std::string& top, Shape sample, int64_t batch, std::string note) {
    const bool label = facts_.labels.contains(top);
    const auto remark = facts_.remarks.shapes.find(top);
    if (remark != facts_.remarks.shapes.end()) sample = remark->second, note.clear();
    // A note marks a guess, which the given shape replaces.
    if (!label && !facts_.sample.empty() && (sample.empty() || !note.empty()))
      sample = facts_.sample, note.clear();
    if (!label && sample.empty()) {
      const Likely likely = LikelyData(source_, facts_.network);
      return Failed(
          "the shape of '{0}' is only in its data; name the data (--data {2}), give --shape {1}, "
          "or "
          "add a comment to the file: # tench: {0} is {1}",
          Printable(top), likely.shape, likely.data);
    }
    if (!label) TENCH_TRY(CheckGiven(top, sample));
    CaffeInput input{top, {}, batch, false, label ? "" : std::move(note)};
    TENCH_TRY(SetFill(input, sample, nullptr));
    inputs_.push_back(std::move(input));
    return Ok();
  }

  std::vector<CaffeInput> Take() { return std::move(inputs_); }

 private:
  Status SetFill(CaffeInput& input, const Shape& sample, const caffe::FillerParameter* filler) {
    if (facts_.labels.contains(input.top)) return SetLabel(input, sample, filler);
    input.input.role = InputRole::kData;
    input.input.shape = sample.empty() ? Shape{1} : sample;
    input.input.fill =
        facts_.unit ? Fill{FillKind::kUniform, 0, 1} : Fill{FillKind::kGaussian, 0, 1};
    if (filler != nullptr) input.input.fill = TENCH_TRY(ReadFiller(*filler, {}));
    return Ok();
  }

  Status SetLabel(CaffeInput& input, const Shape& sample, const caffe::FillerParameter* filler) {
    if (ElementCount(sample) != 1)
      return Unsupported("'{}' has {} labels per sample; only one is supported",
                         Printable(input.top), ElementCount(sample));
    input.input.role = InputRole::kLabel;
    input.classes_open = filler == nullptr;
    if (filler == nullptr) return Ok();
    input.input.fill = TENCH_TRY(ReadFiller(*filler, {}));
    // Caffe truncates labels to integers.
    if (input.input.fill.kind == FillKind::kUniform)
      input.input.fill = {FillKind::kInteger, std::floor(input.input.fill.a),
                          std::ceil(input.input.fill.b)};
    return Ok();
  }

  Status CheckGiven(const std::string& top, const Shape& sample) const {
    if (facts_.sample.empty() || facts_.sample == sample) return Ok();
    return Failed("'{}' is {} in the file, but the given data is {}", Printable(top),
                  ToString(sample), ToString(facts_.sample));
  }

  const DataFacts& facts_;
  const std::string& source_;  // of the data layer: its database or list
  std::vector<CaffeInput> inputs_;
};

Shape ShapeOf(const caffe::BlobShape& shape) { return {shape.dim().begin(), shape.dim().end()}; }

// The element for top `index` of a list that has one element for all tops or one per top.
template <class List>
Result<const typename List::value_type*> Each(const List& list, int index, int tops,
                                              const char* what) {
  if (list.size() != 1 && list.size() != tops)
    return Failed("{} {} for {} tops; there must be one, or one per top", list.size(), what, tops);
  return &list[list.size() == 1 ? 0 : index];
}

Result<Shape> DummyShape(const caffe::DummyDataParameter& dummy, int index, int tops) {
  if (dummy.shape_size() > 0)
    return ShapeOf(*TENCH_TRY(Each(dummy.shape(), index, tops, "shapes")));
  Shape shape;
  for (const auto* sizes : {&dummy.num(), &dummy.channels(), &dummy.height(), &dummy.width()})
    shape.push_back(*TENCH_TRY(Each(*sizes, index, tops, "sizes")));
  return shape;
}

Status ReadDummy(const caffe::LayerParameter& layer, DataReader& reader) {
  static const caffe::FillerParameter kZero;  // Caffe's default
  const caffe::DummyDataParameter& dummy = layer.dummy_data_param();
  for (int i = 0; i < layer.top_size(); ++i) {
    const Shape shape = TENCH_TRY(DummyShape(dummy, i, layer.top_size()));
    const caffe::FillerParameter* filler = &kZero;
    if (dummy.data_filler_size() > 0)
      filler = TENCH_TRY(Each(dummy.data_filler(), i, layer.top_size(), "fillers"));
    TENCH_TRY(reader.AddWhole(layer.top(i), shape, filler));
  }
  return Ok();
}

// An image of a database. Only the database knows the number of channels; the mean values usually
// imply it, and the fallback is three.
struct Sample {
  Shape shape;
  std::string note;
};
Sample CroppedSample(const caffe::LayerParameter& layer, int64_t old_crop) {
  const caffe::TransformationParameter& transform = layer.transform_param();
  const int64_t crop = transform.crop_size() > 0 ? transform.crop_size() : old_crop;
  if (crop == 0) return {};
  if (transform.force_gray()) return {{1, crop, crop}, ""};
  if (transform.force_color() || transform.mean_value_size() == 3) return {{3, crop, crop}, ""};
  return {{3, crop, crop},
          fmt::format("assuming that '{}' has three channels; otherwise add # tench: {} is 1x{}x{}",
                      Printable(layer.top(0)), Printable(layer.top(0)), crop, crop)};
}

Sample ImageSample(const caffe::LayerParameter& layer) {
  const caffe::ImageDataParameter& image = layer.image_data_param();
  Sample sample = CroppedSample(layer, image.crop_size());
  sample.note.clear();
  if (sample.shape.empty() && image.new_height() > 0 && image.new_width() > 0)
    sample.shape = {3, image.new_height(), image.new_width()};
  if (!sample.shape.empty() && !image.is_color()) sample.shape[0] = 1;
  return sample;
}

// The first top is the image, the second its label.
Status ReadImages(const caffe::LayerParameter& layer, const Sample& sample, int64_t batch,
                  DataReader& reader) {
  if (layer.top_size() < 1 || layer.top_size() > 2)
    return Failed("a {} layer has one or two tops, not {}", layer.type(), layer.top_size());
  if (batch < 1) return Failed("its batch_size is missing");
  TENCH_TRY(reader.AddSample(layer.top(0), sample.shape, batch, sample.note));
  return layer.top_size() < 2 ? Ok() : reader.AddSample(layer.top(1), {1}, batch, "");
}

Status ReadKnown(const caffe::LayerParameter& layer, DataReader& reader) {
  const std::string& type = layer.type();
  if (type == "DummyData") return ReadDummy(layer, reader);
  if (type == "Data")
    return ReadImages(layer, CroppedSample(layer, layer.data_param().crop_size()),
                      layer.data_param().batch_size(), reader);
  if (type == "ImageData")
    return ReadImages(layer, ImageSample(layer), layer.image_data_param().batch_size(), reader);
  if (type == "MemoryData") {
    const caffe::MemoryDataParameter& memory = layer.memory_data_param();
    return ReadImages(layer, {{memory.channels(), memory.height(), memory.width()}, ""},
                      memory.batch_size(), reader);
  }
  if (type == "HDF5Data") {
    const int64_t batch = layer.hdf5_data_param().batch_size();
    if (batch < 1) return Failed("its batch_size is missing");
    for (const std::string& top : layer.top()) TENCH_TRY(reader.AddSample(top, {}, batch, ""));
    return Ok();
  }
  for (int i = 0; i < layer.top_size(); ++i) {  // Input
    const caffe::BlobShape* shape =
        TENCH_TRY(Each(layer.input_param().shape(), i, layer.top_size(), "shapes"));
    TENCH_TRY(reader.AddWhole(layer.top(i), ShapeOf(*shape), nullptr));
  }
  return Ok();
}

}  // namespace

Result<PrototxtRemarks> ReadRemarks(std::string_view text, std::string_view origin) {
  PrototxtRemarks remarks;
  size_t line = 0;
  while (!text.empty()) {
    ++line;
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view remark = Trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!remark.starts_with(kRemark)) continue;
    const std::vector<std::string> words = Split(remark.substr(kRemark.size()), ' ');
    if (words.size() >= 3 && words[1] == "rounds" && words[2].starts_with("down")) {
      remarks.rounded_down.insert(words[0]);
    } else if (words.size() == 3 && words[1] == "is") {
      remarks.shapes[words[0]] = TENCH_TRY(ParseShape(words[2]).In(
          fmt::format("{}:{}: a shape is written 3x227x227", origin, line)));
    } else {
      return Failed(
          "{}:{}: a remark to tench is '# tench: NAME is 3x227x227' or '# tench: NAME rounds down'",
          origin, line);
    }
  }
  return remarks;
}

bool IsDataLayer(const std::string& type) {
  static const std::set<std::string> kTypes = {"Data",      "DummyData", "HDF5Data",
                                               "ImageData", "Input",     "MemoryData"};
  return kTypes.contains(type);
}

Result<std::vector<CaffeInput>> ReadDataLayer(const caffe::LayerParameter& layer,
                                              const DataFacts& facts) {
  const std::string source = SourceOf(layer);
  DataReader reader(facts, source);
  if (layer.top_size() == 0) return Failed("it has no top");
  TENCH_TRY(ReadKnown(layer, reader));
  return reader.Take();
}

Result<std::vector<CaffeInput>> ReadNetInputs(const caffe::NetParameter& net,
                                              const DataFacts& facts) {
  const std::string source;
  DataReader reader(facts, source);
  const int inputs = net.input_size();
  if (net.input_shape_size() == 0 && net.input_dim_size() != 4 * inputs)
    return Failed("{} inputs have {} input_dim; there must be four each", inputs,
                  net.input_dim_size());
  for (int i = 0; i < inputs; ++i) {
    Shape shape;
    if (net.input_shape_size() > 0) {
      shape = ShapeOf(*TENCH_TRY(Each(net.input_shape(), i, inputs, "input_shape")));
    } else {
      shape.assign(net.input_dim().begin() + 4 * i, net.input_dim().begin() + 4 * i + 4);
    }
    TENCH_TRY(reader.AddWhole(net.input(i), shape, nullptr));
  }
  return reader.Take();
}

}  // namespace tench
