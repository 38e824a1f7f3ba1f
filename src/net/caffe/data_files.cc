// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/data_files.h"

#include "base/text.h"
#include "net/caffe/legacy_layers.h"
#include "net/caffe/net_state.h"
#include "net/caffe/schema.pb.h"
#include "net/caffe/text_message.h"

namespace tench {
namespace {

std::string Yes(bool yes) { return yes ? "yes" : "no"; }

// The keys of transform_param, or of the older fields in the layer's own parameter.
template <class Parameter>
void AddTransform(const caffe::LayerParameter& layer, const Parameter& older,
                  CaffeDataFiles& files) {
  const caffe::TransformationParameter& transform = layer.transform_param();
  const int64_t crop = transform.crop_size() > 0 ? transform.crop_size() : older.crop_size();
  if (crop > 0) files.keys.push_back(fmt::format("crop={}", crop));
  if (transform.mirror() || older.mirror()) files.keys.emplace_back("mirror=yes");
  const float scale = transform.has_scale() ? transform.scale() : older.scale();
  if (scale != 1) files.keys.push_back(fmt::format("scale={}", DecimalOf(scale)));
  files.mean_file = transform.has_mean_file() ? transform.mean_file() : older.mean_file();
  std::vector<std::string> means;
  for (const float mean : transform.mean_value())
    means.push_back(fmt::format("{}", DecimalOf(mean)));
  if (!means.empty()) files.keys.push_back("mean=" + Join(means, "/"));
}

Status ReadDatabase(const caffe::LayerParameter& layer, CaffeDataFiles& files) {
  const caffe::DataParameter& data = layer.data_param();
  if (data.backend() != caffe::DataParameter::LMDB)
    return Unsupported(
        "it reads a LevelDB; tench reads LMDB (backend: LMDB): convert the database");
  files.format = "lmdb";
  files.source = data.source();
  files.keys = {"shuffle=no", "bgr=yes"};
  if (data.force_encoded_color() || layer.transform_param().force_color())
    files.keys.emplace_back("channels=3");
  if (layer.transform_param().force_gray()) files.keys.emplace_back("channels=1");
  if (data.rand_skip() > 0) files.notes.emplace_back("rand_skip is left out");
  AddTransform(layer, data, files);
  return Ok();
}

Status ReadImageList(const caffe::LayerParameter& layer, CaffeDataFiles& files) {
  const caffe::ImageDataParameter& image = layer.image_data_param();
  if (!image.root_folder().empty())
    return Unsupported("root_folder is not supported; write the folder into the list of pictures");
  files.format = "folder";
  files.source = image.source();
  files.keys = {"shuffle=" + Yes(image.shuffle())};
  if (image.is_color())
    files.keys.emplace_back("bgr=yes");
  else
    files.keys.emplace_back("channels=1");
  if (image.new_height() > 0)
    files.keys.push_back(fmt::format("resize={}x{}", image.new_height(), image.new_width()));
  if (image.rand_skip() > 0) files.notes.emplace_back("rand_skip is left out");
  AddTransform(layer, image, files);
  return Ok();
}

Result<std::optional<CaffeDataFiles>> ReadFiles(const caffe::LayerParameter& layer) {
  CaffeDataFiles files;
  files.layer = layer.name();
  if (layer.type() == "Data") {
    TENCH_TRY(ReadDatabase(layer, files));
  } else if (layer.type() == "ImageData") {
    TENCH_TRY(ReadImageList(layer, files));
  } else if (layer.type() == "HDF5Data") {
    files.format = "hdf5";
    files.source = layer.hdf5_data_param().source();
    files.keys = {"shuffle=" + Yes(layer.hdf5_data_param().shuffle())};
  } else {
    return std::optional<CaffeDataFiles>();
  }
  if (files.source.empty()) return Failed("it has no source");
  return std::optional(std::move(files));
}

}  // namespace

Result<std::optional<CaffeDataFiles>> FindDataFiles(std::string_view text,
                                                    const std::string& origin,
                                                    const CaffeState& state) {
  caffe::NetParameter net;
  const MessagePlaces places = TENCH_TRY(ParseMessageText(text, origin, net));
  TENCH_TRY(UpgradeLayers(net, places.tree.get(), origin));
  caffe::NetState phase = net.state();
  phase.set_phase(state.test ? caffe::TEST : caffe::TRAIN);
  if (state.level != 0) phase.set_level(state.level);
  for (const std::string& stage : state.stages) phase.add_stage(stage);
  const char* field = net.layers_size() > 0 ? "layers" : "layer";
  for (int i = 0; i < net.layer_size(); ++i) {
    const caffe::LayerParameter& layer = net.layer(i);
    const std::string where =
        fmt::format("{}:{}: layer '{}'", origin, LineOf(places.tree.get(), net, field, i),
                    Printable(layer.name()));
    if (!TENCH_TRY(BelongsTo(layer, phase).In(where))) continue;
    std::optional<CaffeDataFiles> files = TENCH_TRY(ReadFiles(layer).In(where));
    if (files) return files;
  }
  return std::optional<CaffeDataFiles>();
}

}  // namespace tench
