// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/prototxt.h"

#include "base/file.h"
#include "base/text.h"
#include "net/caffe/legacy_layers.h"
#include "net/caffe/net_reader.h"
#include "net/caffe/text_message.h"

namespace tench {
namespace {

// A syntax error inside a layer: the partial message has its name.
Error WithLayer(Error error, const caffe::NetParameter& net) {
  if (net.layer_size() == 0) return error;
  const std::string& name = net.layer(net.layer_size() - 1).name();
  if (!name.empty()) error.message += fmt::format(" (in or after layer '{}')", Printable(name));
  return error;
}

}  // namespace

Result<CaffeNetwork> ReadPrototxt(std::string_view text, const std::string& origin,
                                  const CaffeState& state, const Shape& sample) {
  caffe::NetParameter net;
  Result<MessagePlaces> places = ParseMessageText(text, origin, net);
  if (!places.ok()) return WithLayer(std::move(places).error(), net);
  TENCH_TRY(UpgradeLayers(net, places->tree.get(), origin));
  PrototxtRemarks remarks = TENCH_TRY(ReadRemarks(text, origin));
  return ReadNet({net, places->tree.get(), places->unknown, origin, std::move(remarks), sample},
                 state);
}

Result<CaffeNetwork> ReadPrototxtFile(const std::string& path, const CaffeState& state,
                                      const Shape& sample) {
  const std::string text = TENCH_TRY(ReadFile(path, kMostTextBytes));
  return ReadPrototxt(text, path, state, sample);
}

}  // namespace tench
