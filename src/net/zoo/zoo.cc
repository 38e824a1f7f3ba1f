// SPDX-License-Identifier: Apache-2.0
#include "net/zoo/zoo.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "net/zoo/families.h"

namespace tench {
namespace {

using Names = std::vector<std::string>;
using Family = std::function<Graph(const InputSpec&)>;

// The first of `data` is the default.
ZooEntry Row(std::string name, std::string help, const Names& data, Family family) {
  auto build = [name, data, family = std::move(family)](const InputSpec& spec) -> Result<Graph> {
    if (std::find(data.begin(), data.end(), spec.data) == data.end()) {
      const std::string asked = spec.data.empty() ? "unnamed data" : spec.data;
      return Failed("{} does not support {}; it supports {}", name, asked, Join(data, ", "));
    }
    return family(spec);
  };
  return {std::move(name), std::move(help), data.front(), data, std::move(build)};
}

std::vector<ZooEntry> MakeTable() {
  const Names digits = {"mnist"};
  const Names small_images = {"mnist", "cifar10"};
  const Names photos = {"imagenet", "cifar10"};
  const Names reviews = {"imdb"};

  std::vector<ZooEntry> table;
  auto add = [&](std::string name, std::string help, const Names& data, Family family) {
    table.push_back(Row(std::move(name), std::move(help), data, std::move(family)));
  };
  add("lenet", "LeNet of Caffe's MNIST example, after LeCun et al. 1998", small_images, BuildLenet);
  add("alexnet", "AlexNet, Krizhevsky et al. 2012, as Caffe's reference network (two groups, LRN)",
      photos, BuildAlexnet);
  add("googlenet",
      "GoogLeNet, Szegedy et al. 2015, as Caffe's reference network with both auxiliary heads",
      photos, BuildGooglenet);
  for (const int depth : {16, 19}) {
    add(fmt::format("vgg{}", depth),
        fmt::format("VGG of {} layers, Simonyan and Zisserman 2015", depth), photos,
        [depth](const InputSpec& spec) { return BuildVgg(spec, depth); });
  }
  for (const int depth : {18, 34, 50, 101, 152}) {
    add(fmt::format("resnet{}", depth),
        fmt::format("ResNet of {} layers, He et al. 2016, stride on the 3x3 convolution", depth),
        photos, [depth](const InputSpec& spec) { return BuildResnet(spec, depth); });
  }
  add("lstm", "Embedding, one LSTM, mean over time; the IMDB reviews of Maas et al. 2011", reviews,
      BuildLstm);
  add("autoencoder", "784-400-200-100 and back, sigmoid, after Hinton and Salakhutdinov 2006",
      digits, BuildAutoencoder);
  for (const int stage : {1, 2, 3}) {
    add(fmt::format("autoencoder-stage{}", stage),
        fmt::format("Layer {} of the autoencoder's layer-wise training", stage), digits,
        [stage](const InputSpec& spec) { return BuildAutoencoderStage(spec, stage); });
  }
  add("mlp", "Two hidden layers of 512, ReLU", small_images, BuildMlp);
  return table;
}

}  // namespace

std::span<const ZooEntry> Zoo() {
  static const std::vector<ZooEntry> table = MakeTable();
  return table;
}

Result<const ZooEntry*> FindNetwork(std::string_view name) {
  Names names;
  for (const ZooEntry& entry : Zoo()) {
    if (entry.name == name) return &entry;
    names.push_back(entry.name);
  }
  const std::string hint = Hint(name, names);
  if (!hint.empty()) return Failed("unknown network '{}'{}", Printable(name, 60), hint);
  return Failed("unknown network '{}'; known are {}", Printable(name, 60), Join(names, ", "));
}

}  // namespace tench
