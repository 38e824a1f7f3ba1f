// SPDX-License-Identifier: Apache-2.0
// The published suites and the examples of docs/suites.md keep their number of cells.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "plan/matrix.h"

namespace tench::suite_files_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

const std::filesystem::path kSource = TENCH_SOURCE_DIR;

Catalog KnownNames() {
  Catalog catalog;
  catalog.workers = {"caffe",        "caffe2", "cntk",        "jax",        "mxnet",
                     "mxnet-python", "native", "reference",   "tensorflow", "tensorflow1",
                     "theano",       "torch",  "torch-python"};
  catalog.networks = {"lenet",    "alexnet", "googlenet",   "vgg16",
                      "resnet50", "lstm",    "autoencoder", "mlp"};
  catalog.data_sets = {"mnist", "cifar10", "imagenet", "imdb"};
  catalog.resolve_data = [](const std::string& network,
                            const std::string& data) -> Result<std::string> {
    static const std::set<std::string> kDigits = {"lenet", "autoencoder", "mlp"};
    if (!data.empty()) return data;
    return std::string(network == "lstm"           ? "imdb"
                       : kDigits.contains(network) ? "mnist"
                                                   : "imagenet");
  };
  return catalog;
}

struct Loaded {
  Suite suite;
  std::vector<PlannedCell> cells;
};

Loaded Load(const std::string& name) {
  Result<Suite> suite = LoadSuite(name, {kSource / "suites"});
  EXPECT_TRUE(suite.ok()) << suite.error().message;
  if (!suite.ok()) return {};
  Result<std::vector<PlannedCell>> cells = Expand(*suite, KnownNames());
  EXPECT_TRUE(cells.ok()) << cells.error().message;
  if (!cells.ok()) return {};
  return {*std::move(suite), *std::move(cells)};
}

std::vector<std::string> WorkersOf(const Loaded& loaded) {
  std::set<std::string> workers;
  for (const PlannedCell& planned : loaded.cells) workers.insert(planned.cell.Text(kAxisWorker));
  return {workers.begin(), workers.end()};
}

TEST(SuiteFilesTest, EverySuiteIsKnownHereAndNamedAsItsFile) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "suites")) {
    if (entry.is_directory()) continue;  // networks
    names.push_back(entry.path().filename().string());
    const Loaded loaded = Load(entry.path().string());
    EXPECT_EQ(loaded.suite.name, entry.path().stem().string());
    EXPECT_FALSE(loaded.suite.title.empty()) << entry.path();
  }
  EXPECT_THAT(names, UnorderedElementsAre(
                         "quick.yaml", "ufsm-2017.yaml", "upv-2018.yaml", "bahrampour-2016.yaml",
                         "peers.yaml", "peers-batches.yaml", "tuned.yaml", "then-and-now.yaml",
                         "mnist-accuracy.yaml", "input-pipeline.yaml", "cifar10-accuracy.yaml",
                         "imdb-accuracy.yaml", "isa.yaml", "ops.yaml"));
}

TEST(SuiteFilesTest, TheAccuracySuitesTestEveryRunOnAnotherSplit) {
  for (const std::string name : {"mnist-accuracy", "cifar10-accuracy", "imdb-accuracy"}) {
    const Loaded suite = Load(name);
    EXPECT_THAT(WorkersOf(suite), IsSupersetOf({"mxnet", "native", "tensorflow", "torch"}));
    std::set<int64_t> seeds;
    for (const PlannedCell& planned : suite.cells) {
      EXPECT_FALSE(planned.budget.test_data.empty()) << name;
      EXPECT_NE(planned.budget.test_data, planned.cell.Text(kAxisData)) << name;
      seeds.insert(planned.cell.Integer(kAxisSeed));
    }
    EXPECT_GE(seeds.size(), 2u) << name << ": the seeds are the repetitions";
  }
}

TEST(SuiteFilesTest, OpsHasEveryFileOfItsFolderOnce) {
  const Loaded ops = Load("ops");
  std::multiset<std::string> used, files;
  for (const PlannedCell& planned : ops.cells) {
    if (planned.cell.Text(kAxisWorker) == "native")
      used.insert(std::filesystem::path(planned.cell.Text(kAxisNetwork)).filename().string());
  }
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "suites" / "ops"))
    files.insert(entry.path().filename().string());
  EXPECT_FALSE(files.empty());
  EXPECT_EQ(used, files);
  EXPECT_EQ(ops.cells.size(), 4 * files.size());
}

TEST(SuiteFilesTest, IsaHasEveryLimitForEveryWorker) {
  const Loaded isa = Load("isa");
  EXPECT_EQ(isa.cells.size(), 4u * 3 * Axes()[kAxisIsa].choices.size());
}

TEST(SuiteFilesTest, QuickIsSmallAndAllowsAVerdict) {
  const Loaded quick = Load("quick");
  EXPECT_EQ(quick.suite.rounds, 5);
  EXPECT_EQ(quick.cells.size(), 5u * (2 + 1 + 1 + 2) + 1);
  EXPECT_THAT(WorkersOf(quick),
              ElementsAre("caffe", "mxnet", "native", "reference", "tensorflow", "torch"));
  std::set<std::string> untuned;
  for (const PlannedCell& planned : quick.cells) {
    EXPECT_LE(planned.budget.time_limit_ns, 1'000'000'000);
    EXPECT_GE(planned.budget.min_steps, 5);
    EXPECT_EQ(planned.limits.tune_budget_ns, 5'000'000'000);
    if (planned.cell.Text(kAxisTuned) == "no" && planned.cell.Text(kAxisWorker) != "reference")
      untuned.insert(
          fmt::format("{} {}", planned.cell.Text(kAxisNetwork), planned.cell.Integer(kAxisBatch)));
  }
  EXPECT_THAT(untuned, ElementsAre("alexnet 16", "lenet 64"));
}

TEST(SuiteFilesTest, PeersComparesTunedWithTuned) {
  for (const auto& [name, groups] : {std::pair("peers", 2 + 1 + 2 + 1), {"peers-batches", 7}}) {
    const Loaded peers = Load(name);
    EXPECT_EQ(peers.suite.rounds, 5);
    EXPECT_THAT(WorkersOf(peers), ElementsAre("mxnet", "native", "tensorflow", "torch"));
    EXPECT_EQ(peers.cells.size(), 4u * static_cast<size_t>(groups));
    for (const PlannedCell& planned : peers.cells) {
      EXPECT_EQ(planned.cell.Text(kAxisTuned), "yes");
      EXPECT_EQ(planned.cell.phase(), Phase::kTrain);
      EXPECT_GE(planned.budget.min_steps, 5);
      EXPECT_EQ(planned.limits.tune_budget_ns, 20'000'000'000);
    }
  }
}

TEST(SuiteFilesTest, ThenAndNowHasTheStudiesVersionsBesideTodays) {
  const Loaded suite = Load("then-and-now");
  EXPECT_EQ(suite.suite.rounds, 5);
  EXPECT_THAT(WorkersOf(suite), IsSupersetOf({"tensorflow1@1.3.0", "tensorflow1@1.15.5", "jax",
                                              "theano", "torch-python@1.0.1", "native"}));
  // Every worker on three networks in two phases on the tuned track, and a training of two networks
  // on the untuned one, there PyTorch compiled as well.
  EXPECT_EQ(suite.cells.size(), 18u * 3 * 2 + 18 * 2 + 2);
  std::map<std::string, int> tuned;
  for (const PlannedCell& planned : suite.cells) {
    EXPECT_EQ(planned.cell.Integer(kAxisBatch),
              planned.cell.Text(kAxisNetwork) == "lenet" ? 64 : 16);
    if (planned.cell.Text(kAxisTuned) == "yes") ++tuned[planned.cell.Text(kAxisWorker)];
  }
  EXPECT_EQ(tuned.size(), 18u) << "tuned is compared with tuned";
  for (const auto& [worker, cells] : tuned) EXPECT_EQ(cells, 6) << worker;
}

TEST(SuiteFilesTest, Ufsm2017IsTheThesis) {
  const Loaded ufsm = Load("ufsm-2017");
  EXPECT_THAT(WorkersOf(ufsm), ElementsAre("caffe", "native", "tensorflow"));
  EXPECT_EQ(ufsm.cells.size(), 3u * 2 * 10 * 2);
  std::set<int64_t> batches;
  for (const PlannedCell& planned : ufsm.cells) {
    const Cell& cell = planned.cell;
    batches.insert(cell.Integer(kAxisBatch));
    EXPECT_EQ(planned.budget.epochs, 10);
    EXPECT_EQ(cell.Integer(kAxisImages), 1024);
    EXPECT_EQ(cell.Integer(kAxisLabels), 1);
    EXPECT_EQ(cell.Real(kAxisWeightDecay), cell.Text(kAxisNetwork) == "alexnet" ? 0.0005 : 0.0002);
  }
  EXPECT_THAT(batches, ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 256, 512));
}

TEST(SuiteFilesTest, Upv2018IsTheReport) {
  const Loaded upv = Load("upv-2018");
  EXPECT_EQ(upv.suite.rounds, 3);
  EXPECT_THAT(WorkersOf(upv),
              ElementsAre("caffe", "cntk", "mxnet", "native", "tensorflow", "torch"));
  EXPECT_EQ(upv.cells.size(), 6u * 9 * 2);
  std::set<std::string> pairs;
  for (const PlannedCell& planned : upv.cells)
    pairs.insert(fmt::format("{} {} batch {} steps {} lr {}", planned.cell.Text(kAxisData),
                             planned.cell.Text(kAxisNetwork), planned.cell.Integer(kAxisBatch),
                             planned.budget.fixed_steps, planned.cell.Real(kAxisLr)));
  EXPECT_THAT(pairs, UnorderedElementsAre("mnist lenet batch 64 steps 938 lr 0.01",
                                          "cifar10 alexnet batch 128 steps 390 lr 0.01",
                                          "cifar10 vgg16 batch 128 steps 390 lr 0.01",
                                          "cifar10 resnet50 batch 128 steps 390 lr 0.1",
                                          "cifar10 googlenet batch 128 steps 390 lr 0.1",
                                          "imagenet alexnet batch 128 steps 300 lr 0.01",
                                          "imagenet vgg16 batch 8 steps 300 lr 0.01",
                                          "imagenet resnet50 batch 8 steps 300 lr 0.1",
                                          "imagenet googlenet batch 8 steps 300 lr 0.1"));
}

TEST(SuiteFilesTest, Bahrampour2016IsThePaper) {
  const Loaded paper = Load("bahrampour-2016");
  EXPECT_THAT(WorkersOf(paper), ElementsAre("caffe", "native", "tensorflow", "theano", "torch"));
  std::map<std::string, size_t> cells_of_device;
  std::set<std::string> networks, phases;
  for (const PlannedCell& planned : paper.cells) {
    ++cells_of_device[planned.cell.Text(kAxisDevice)];
    networks.insert(planned.cell.Text(kAxisNetwork));
    phases.insert(planned.cell.Text(kAxisPhase));
  }
  // Workers x networks x batches x phases x threads.
  EXPECT_EQ(cells_of_device["cpu"], 5u * 4 * 5 * 2 * 5);
  EXPECT_EQ(cells_of_device["gpu:0"], 5u * 4 * 5 * 2);
  EXPECT_THAT(networks, ElementsAre("alexnet", "autoencoder", "lenet", "lstm"));
  EXPECT_THAT(phases, ElementsAre("forward", "gradient"));
}

// The fenced yaml blocks of the page, each with its first line number.
std::vector<std::pair<int, std::string>> Examples(const std::string& page) {
  std::vector<std::pair<int, std::string>> examples;
  bool inside = false;
  int number = 0;
  for (const std::string& line : Split(page, '\n')) {
    ++number;
    if (!inside && line == "```yaml") {
      inside = true;
      examples.push_back({number, ""});
    } else if (inside && line == "```") {
      inside = false;
    } else if (inside) {
      examples.back().second += line + "\n";
    }
  }
  return examples;
}

TEST(SuiteFilesTest, TheSuitesOfRealDataNameTheirWork) {
  const Loaded accuracy = Load("mnist-accuracy");
  // Three seeds; five workers for ten epochs, and four until the target.
  EXPECT_EQ(accuracy.cells.size(), 27u);
  for (const PlannedCell& planned : accuracy.cells) {
    EXPECT_EQ(planned.budget.test_data, "mnist:out/mnist-5k/test,scale=0.00390625");
    EXPECT_EQ(planned.budget.until.empty(), planned.block == "accuracy");
  }
  const Loaded pipeline = Load("input-pipeline");
  // Four workers, resident and with one and two loader threads, and three lengths of the queue.
  EXPECT_EQ(pipeline.cells.size(), 15u);
}

TEST(SuiteFilesTest, EveryExampleOfTheDocumentationExpands) {
  const Result<std::string> page = ReadFile(kSource / "docs/suites.md");
  ASSERT_TRUE(page.ok()) << page.error().message;
  const auto examples = Examples(*page);
  EXPECT_GE(examples.size(), 5u);
  for (const auto& [line, text] : examples) {
    const Result<Suite> suite =
        ParseSuite(text, fmt::format("docs/suites.md, example of line {}", line));
    ASSERT_TRUE(suite.ok()) << suite.error().message;
    const auto cells = Expand(*suite, KnownNames());
    ASSERT_TRUE(cells.ok()) << cells.error().message;
    // An example may state its size in its first line: "# 12 cells".
    if (const size_t end = text.find(" cells");
        text.starts_with("# ") && end != std::string::npos) {
      EXPECT_EQ(std::to_string(cells->size()), text.substr(2, end - 2))
          << "example of line " << line;
    }
  }
}

}  // namespace
}  // namespace tench::suite_files_test
