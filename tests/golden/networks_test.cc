// SPDX-License-Identifier: Apache-2.0
// Pins shapes, parameters, FLOPs and fingerprint of every network on every data set, layer by
// layer. networks/NETWORK-DATA.txt holds the listings; docs/networks.md quotes the totals.

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "data/data_set.h"
#include "golden.h"
#include "net/cost.h"
#include "net/zoo/zoo.h"

namespace tench::networks_test {
namespace {

struct Case {
  std::string network, data;

  std::string Name() const { return network + "-" + data; }
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.Name(); }

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const ZooEntry& entry : Zoo()) {
    for (const std::string& data : entry.data) cases.push_back({entry.name, data});
  }
  return cases;
}

Graph Build(const Case& c) { return *LoadNetwork(c.network, c.data, 0); }

int64_t InferenceFlops(const Graph& graph) {
  return TotalCost(*Infer(InferenceGraph(graph), 1)).forward_flops;
}

std::string Listing(const Case& c) {
  const Graph graph = Build(c);
  const TypedGraph typed = *Infer(graph, 1);
  std::string text = fmt::format("network {}\ndata {}\nbatch 1\n\n", c.network, c.data);
  text += fmt::format("{:<32} {:<22} {:<16} {:>12} {:>14}\n", "layer", "op", "output", "parameters",
                      "forward_flops");
  for (size_t i = 0; i < typed.layers.size(); ++i) {
    const TypedLayer& layer = typed.layers[i];
    const Cost cost = LayerCost(typed, i);
    const std::string shape = layer.output.shape.empty() ? "scalar" : ToString(layer.output.shape);
    text += fmt::format("{:<32} {:<22} {:<16} {:>12} {:>14}\n", layer.layer.name,
                        OpName(layer.layer.op), shape, cost.parameters, cost.forward_flops);
  }
  const Cost total = TotalCost(typed);
  text += fmt::format("\nparameters {}\nparameter_bytes {}\nactivation_bytes {}\n",
                      total.parameters, total.parameter_bytes, total.activation_bytes);
  text += fmt::format("forward_flops {}\nbackward_flops {}\ninference_flops {}\n",
                      total.forward_flops, total.backward_flops, InferenceFlops(graph));
  return text + fmt::format("fingerprint {}\n", Fingerprint(graph));
}

std::string WithThousands(int64_t count) {
  std::string digits = std::to_string(count);
  for (int64_t i = static_cast<int64_t>(digits.size()) - 3; i > 0; i -= 3)
    digits.insert(static_cast<size_t>(i), ",");
  return digits;
}

class NetworkGoldenTest : public testing::TestWithParam<Case> {};

TEST_P(NetworkGoldenTest, KeepsItsLayersCostsAndFingerprint) {
  EXPECT_TRUE(MatchesGolden("networks/" + GetParam().Name() + ".txt", Listing(GetParam())));
}

TEST_P(NetworkGoldenTest, HasItsNumbersInTheDocumentation) {
  const Result<std::string> text =
      ReadFile(std::filesystem::path(TENCH_SOURCE_DIR) / "docs" / "networks.md");
  ASSERT_TRUE(text.ok()) << text.error().message;
  const Graph graph = Build(GetParam());
  const double gflops = static_cast<double>(InferenceFlops(graph)) / 1e9;
  const std::string row = fmt::format(
      "| {} | {} | {} | {:.{}f} |", GetParam().network, GetParam().data,
      WithThousands(TotalCost(*Infer(graph, 1)).parameters), gflops, gflops < 0.1 ? 5 : 3);
  EXPECT_NE(text->find(row), std::string::npos) << "docs/networks.md lacks the row\n" << row;
}

INSTANTIATE_TEST_SUITE_P(Zoo, NetworkGoldenTest, testing::ValuesIn(Cases()), [](const auto& test) {
  std::string name = test.param.Name();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(NetworkGoldenFilesTest, BelongToNetworksThatExist) {
  std::set<std::string> expected;
  for (const Case& c : Cases()) expected.insert(c.Name() + ".txt");
  for (const auto& file : std::filesystem::directory_iterator(GoldenPath("networks"))) {
    EXPECT_TRUE(expected.contains(file.path().filename().string())) << file.path();
  }
}

}  // namespace
}  // namespace tench::networks_test
