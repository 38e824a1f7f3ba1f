// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/legacy_layers.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/text.h"
#include "net/caffe/text_message.h"

namespace tench {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// "INNER_PRODUCT" -> "InnerProduct", except for the names that Caffe writes otherwise.
std::string TypeName(const std::string& old) {
  static const std::map<std::string, std::string> kOthers = {
      {"ABSVAL", "AbsVal"}, {"ARGMAX", "ArgMax"},
      {"BNLL", "BNLL"},     {"HDF5_DATA", "HDF5Data"},
      {"LRN", "LRN"},       {"HDF5_OUTPUT", "HDF5Output"},
      {"MVN", "MVN"},       {"RELU", "ReLU"},
      {"TANH", "TanH"},     {"SOFTMAX_LOSS", "SoftmaxWithLoss"},
      {"NONE", ""}};
  if (const auto other = kOthers.find(old); other != kOthers.end()) return other->second;
  std::string name;
  bool begins = true;
  for (const char c : old) {
    if (c != '_') name += begins || c < 'A' || c > 'Z' ? c : static_cast<char>(c - 'A' + 'a');
    begins = c == '_';
  }
  return name;
}

// Copies the fields that have the same name and type in both messages.
void CopySameFields(const Message& from, Message& to) {
  std::vector<const FieldDescriptor*> fields;
  from.GetReflection()->ListFields(from, &fields);
  for (const FieldDescriptor* field : fields) {
    const FieldDescriptor* target = to.GetDescriptor()->FindFieldByName(field->name());
    if (target == nullptr || target->cpp_type() != field->cpp_type() ||
        target->is_repeated() != field->is_repeated() ||
        target->message_type() != field->message_type())
      continue;
    const auto& read = *from.GetReflection();
    const auto& write = *to.GetReflection();
    const int count = field->is_repeated() ? read.FieldSize(from, field) : 1;
    for (int i = 0; i < count; ++i) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        Message* into = field->is_repeated() ? write.AddMessage(&to, target)
                                             : write.MutableMessage(&to, target);
        into->CopyFrom(field->is_repeated() ? read.GetRepeatedMessage(from, field, i)
                                            : read.GetMessage(from, field));
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING && field->is_repeated()) {
        write.AddString(&to, target, read.GetRepeatedString(from, field, i));
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        write.SetString(&to, target, read.GetString(from, field));
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_FLOAT && field->is_repeated()) {
        write.AddFloat(&to, target, read.GetRepeatedFloat(from, field, i));
      }
    }
  }
}

// Data layers had the transformation among their own fields.
template <class Parameter>
void UpgradeTransformation(const Parameter& old, caffe::LayerParameter& layer) {
  caffe::TransformationParameter& transform = *layer.mutable_transform_param();
  if (old.has_scale()) transform.set_scale(old.scale());
  if (old.has_mean_file()) transform.set_mean_file(old.mean_file());
  if (old.has_crop_size()) transform.set_crop_size(old.crop_size());
  if (old.has_mirror()) transform.set_mirror(old.mirror());
}

void UpgradeParameters(const caffe::V1LayerParameter& old, caffe::LayerParameter& layer) {
  const int count = std::max(
      {old.param_size(), old.blobs_lr_size(), old.weight_decay_size(), old.blob_share_mode_size()});
  for (int i = 0; i < count; ++i) {
    caffe::ParamSpec& spec = *layer.add_param();
    if (i < old.param_size()) spec.set_name(old.param(i));
    if (i < old.blobs_lr_size()) spec.set_lr_mult(old.blobs_lr(i));
    if (i < old.weight_decay_size()) spec.set_decay_mult(old.weight_decay(i));
  }
}

}  // namespace

Status UpgradeLayers(caffe::NetParameter& net,
                     const google::protobuf::TextFormat::ParseInfoTree* tree,
                     const std::string& origin) {
  if (net.layers_size() == 0) return Ok();
  if (net.layer_size() > 0)
    return Failed("{}:{}: the file has both `layers` and `layer`; Caffe allows one form", origin,
                  LineOf(tree, net, "layer", 0));
  for (int i = 0; i < net.layers_size(); ++i) {
    const caffe::V1LayerParameter& old = net.layers(i);
    if (old.has_layer())
      return Failed(
          "{}:{}: layers in Caffe's V0 format; convert the file with Caffe's tool: "
          "upgrade_net_proto_text OLD NEW",
          origin, LineOf(tree, net, "layers", i));
    caffe::LayerParameter& layer = *net.add_layer();
    CopySameFields(old, layer);
    layer.set_type(TypeName(caffe::V1LayerParameter::LayerType_Name(old.type())));
    UpgradeParameters(old, layer);
    if (old.has_data_param()) UpgradeTransformation(old.data_param(), layer);
    if (old.has_image_data_param()) UpgradeTransformation(old.image_data_param(), layer);
  }
  return Ok();
}

}  // namespace tench
