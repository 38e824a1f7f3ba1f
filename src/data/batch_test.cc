// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "data/data_set.h"
#include "net/fill.h"

namespace tench::batch_test {
namespace {

TypedGraph Network(std::string_view name, int64_t batch) {
  const Result<Graph> graph = LoadNetwork(name, "", 0);
  Check(graph.ok(), "the network is missing");
  Result<TypedGraph> typed = Infer(*graph, batch);
  Check(typed.ok(), "the network is broken");
  return *std::move(typed);
}

std::vector<HostTensor> Batch(std::string_view network, int64_t batch, int64_t first,
                              const BatchPlan& plan = {1, 100, 0}) {
  std::vector<HostTensor> tensors;
  MakeBatch(Network(network, batch), plan, first, tensors);
  return tensors;
}

const HostTensor& Named(const std::vector<HostTensor>& tensors, std::string_view name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const HostTensor& tensor) { return tensor.name == name; });
  Check(found != tensors.end(), "the tensor is missing");
  return *found;
}

// All values of sample `position` of a batch, in one row.
std::vector<double> Sample(const std::vector<HostTensor>& tensors, int64_t position) {
  std::vector<double> row;
  for (const HostTensor& tensor : tensors) {
    const int64_t elements = ElementCount(tensor.type.shape) / tensor.type.shape[0];
    for (int64_t e = 0; e < elements; ++e) {
      const size_t at = static_cast<size_t>(position * elements + e);
      row.push_back(tensor.type.dtype == DType::kF32 ? tensor.f32.at(at) : tensor.i32.at(at));
    }
  }
  return row;
}

TEST(BatchTest, SamplesAreTheSameAtEveryBatchSize) {
  for (const char* network : {"lenet", "lstm"}) {
    const auto big = Batch(network, 12, 0);
    for (int64_t i = 0; i < 12; ++i)
      EXPECT_EQ(Sample(Batch(network, 1, i), 0), Sample(big, i)) << network << " " << i;
    const auto middle = Batch(network, 5, 4);
    for (int64_t i = 0; i < 5; ++i)
      EXPECT_EQ(Sample(middle, i), Sample(big, i + 4)) << network << " " << i;
    EXPECT_NE(Sample(big, 0), Sample(big, 1));
  }
}

TEST(BatchTest, ElementsAreIndexedBySampleAndPlace) {
  const auto tensors = Batch("lenet", 4, 7);
  const HostTensor& label = Named(tensors, "label");
  const Generator generator(1, "label");
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(label.i32[static_cast<size_t>(i)],
              generator.Integer(static_cast<uint64_t>(7 + i), 0, 10));
  const TypedGraph graph = Network("lenet", 4);
  const HostTensor& data = Named(tensors, "data");
  const auto layer = std::find_if(graph.layers.begin(), graph.layers.end(),
                                  [](const TypedLayer& l) { return l.layer.name == "data"; });
  float one = 0;
  FillTensor(1, "data", std::get<Input>(layer->layer.op).fill, 9 * 784 + 5, std::span(&one, 1));
  EXPECT_EQ(data.f32[2 * 784 + 5], one);
}

TEST(BatchTest, TheSetWrapsAroundAsOftenAsNeeded) {
  const BatchPlan plan{1, 3, 0};
  const auto wrapped = Batch("lenet", 8, 7, plan);
  for (int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(Sample(wrapped, i), Sample(Batch("lenet", 1, (7 + i) % 3), 0)) << i;
}

TEST(BatchTest, WithoutANumberOfImagesTheSetIsOneBatch) {
  const BatchPlan plan{1, 0, 0};
  const auto first = Batch("lenet", 4, 0, plan), second = Batch("lenet", 4, 4, plan);
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(Sample(first, i), Sample(second, i));
}

TEST(BatchTest, LabelsCanBeLimitedToFewClasses) {
  const auto all = Batch("lenet", 64, 0), two = Batch("lenet", 64, 0, {1, 100, 2}),
             one = Batch("lenet", 64, 0, {1, 100, 1});
  const auto classes = [](const std::vector<HostTensor>& tensors) {
    const HostTensor& label = Named(tensors, "label");
    return std::set<int32_t>(label.i32.begin(), label.i32.end());
  };
  EXPECT_GT(classes(all).size(), 5u);
  EXPECT_EQ(classes(two), (std::set<int32_t>{0, 1}));
  EXPECT_EQ(classes(one), std::set<int32_t>{0});
  EXPECT_EQ(Named(all, "data").f32, Named(one, "data").f32);
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(Named(two, "label").i32[i], Named(all, "label").i32[i] % 2);
}

TEST(BatchTest, TheSeedChangesEverySample) {
  const auto one = Batch("lenet", 2, 0), two = Batch("lenet", 2, 0, {2, 100, 0});
  EXPECT_NE(Named(one, "data").f32, Named(two, "data").f32);
}

TEST(BatchTest, TensorsHaveTheirTypesAndAreReused) {
  const TypedGraph graph = Network("lstm", 3);
  std::vector<HostTensor> tensors(7);
  MakeBatch(graph, {1, 100, 0}, 0, tensors);
  ASSERT_EQ(tensors.size(), 3u);
  for (const HostTensor& tensor : tensors) {
    EXPECT_EQ(tensor.type.dtype, DType::kI32);
    EXPECT_TRUE(tensor.f32.empty());
    EXPECT_EQ(static_cast<int64_t>(tensor.i32.size()), ElementCount(tensor.type.shape));
  }
  const int32_t* before = tensors[0].i32.data();
  MakeBatch(graph, {1, 100, 0}, 3, tensors);
  EXPECT_EQ(tensors[0].i32.data(), before) << "a cycled batch allocates nothing";
}

TEST(BatchTest, TokensAndLengthsStayInTheirRanges) {
  const auto tensors = Batch("lstm", 64, 0);
  for (const HostTensor& tensor : tensors) {
    const auto [low, high] = std::minmax_element(tensor.i32.begin(), tensor.i32.end());
    if (tensor.name == "lengths") {
      EXPECT_GE(*low, 1);
      EXPECT_LE(*high, 100);
      EXPECT_LT(*low, 20);
      EXPECT_GT(*high, 80);
    }
    if (tensor.name == "tokens") {
      EXPECT_GE(*low, 0);
      EXPECT_LT(*high, 20'000);
    }
  }
}

TEST(BatchTest, ThreadsDoNotChangeABit) {
  const TypedGraph graph = Network("alexnet", 4);
  std::vector<HostTensor> one, four;
  MakeBatch(graph, {1, 10, 0}, 0, one, 1);
  MakeBatch(graph, {1, 10, 0}, 0, four, 4);
  EXPECT_EQ(one[0].f32, four[0].f32);
}

}  // namespace
}  // namespace tench::batch_test
