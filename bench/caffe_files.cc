// SPDX-License-Identifier: Apache-2.0
// Measures the readers of Caffe's files: parsing a prototxt and planning its network, and loading
// about 200 MB of weights. Prints times, and the growth of anonymous memory during the load, which
// excludes the mapped file.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "data/data_set.h"
#include "net/caffe/caffemodel.h"
#include "net/caffe/prototxt.h"
#include "net/caffe/prototxt_writer.h"
#include "net/cost.h"

namespace tench {
namespace {

double MedianMs(std::vector<int64_t> times) {
  std::sort(times.begin(), times.end());
  return static_cast<double>(times[times.size() / 2]) / 1e6;
}

// Anonymous resident memory of this process, in bytes.
int64_t AnonymousBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::atoll(line.c_str() + 8) * 1024;
  }
  return 0;
}

void Prototxt(const std::string& name) {
  const std::string text =
      *WriteTrainPrototxt(*LoadNetwork(name, "imagenet", 0), {CaffeData::Kind::kDummy, "", 16});
  std::vector<int64_t> times;
  for (int i = 0; i < 21; ++i) {
    const int64_t start_ns = NowNs();
    const CaffeNetwork network = *ReadPrototxt(text, "bench.prototxt");
    const TypedGraph typed = *Infer(network.graph, network.batch);
    Check(TotalCost(typed).parameters > 0, "a network without parameters");
    times.push_back(NowNs() - start_ns);
  }
  fmt::print("{}: {} read and planned in {:.1f} ms (median of {})\n", name,
             HumanBytes(static_cast<int64_t>(text.size())), MedianMs(times), times.size());
}

void Weights(const std::string& name) {
  const Graph graph = *LoadNetwork(name, "imagenet", 0);
  const TypedGraph typed = *Infer(graph, 1);
  const CaffeNames names = DefaultCaffeNames(graph);
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-bench-");
  const std::filesystem::path path = folder.path() / "x.caffemodel";
  const auto fill = [](const Parameter&, std::span<float> out) -> Status {
    return std::fill(out.begin(), out.end(), 0.5F), Ok();
  };
  Check(WriteCaffemodel(path, typed, names, fill).ok(), "the weights cannot be written");
  std::vector<int64_t> times;
  int64_t growth_bytes = 0;
  for (int i = 0; i < 5; ++i) {
    const int64_t before = AnonymousBytes(), start_ns = NowNs();
    const Caffemodel model = *Caffemodel::Open(path);
    std::map<std::string, std::vector<float>> to;  // destination of the values
    const auto sink = [&](const Parameter& parameter, std::span<const float> values) -> Status {
      return to[parameter.name].assign(values.begin(), values.end()), Ok();
    };
    Check(LoadWeights(model, typed, names, sink).ok(), "the weights cannot be read");
    times.push_back(NowNs() - start_ns);
    growth_bytes = AnonymousBytes() - before;
  }
  fmt::print("{}: a .caffemodel of {} loaded in {:.0f} ms (median of {}), {} of memory taken\n",
             name, HumanBytes(static_cast<int64_t>(std::filesystem::file_size(path))),
             MedianMs(times), times.size(), HumanBytes(growth_bytes));
}

}  // namespace
}  // namespace tench

int main() {
  for (const char* name : {"alexnet", "googlenet", "resnet50", "resnet152"}) tench::Prototxt(name);
  for (const char* name : {"alexnet", "resnet152"}) tench::Weights(name);
}
