// SPDX-License-Identifier: Apache-2.0
#include "plan/matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tench::matrix_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Catalog TestCatalog() {
  Catalog catalog;
  catalog.workers = {"reference", "native", "torch"};
  catalog.networks = {"lenet", "alexnet", "lstm"};
  catalog.data_sets = {"mnist", "cifar10", "imagenet", "imdb"};
  catalog.resolve_data = [](const std::string& network,
                            const std::string& data) -> Result<std::string> {
    if (network == "lstm" && data == "mnist") return Failed("lstm does not support mnist");
    if (data == "mnist:broken") return Failed("broken: offset 5: the file is truncated");
    if (network == "lstm" && data == "mnist:files") return Unsupported("it reads words");
    if (data == "mnist:files") return std::string("mnist:files,fingerprint=1");
    if (!data.empty()) return data;
    return std::string(network == "lenet"     ? "mnist"
                       : network == "lstm"    ? "imdb"
                       : network == "alexnet" ? "imagenet"
                                              : "");
  };
  return catalog;
}

Result<std::vector<PlannedCell>> TryExpand(std::string_view text) {
  const Result<Suite> suite = ParseSuite(text, "s.yaml");
  if (!suite.ok()) return suite.error();
  return Expand(*suite, TestCatalog());
}

std::vector<PlannedCell> ExpandText(std::string_view text) {
  Result<std::vector<PlannedCell>> cells = TryExpand(text);
  EXPECT_TRUE(cells.ok()) << cells.error().message;
  return cells.ok() ? *std::move(cells) : std::vector<PlannedCell>();
}

std::string ErrorOf(std::string_view text) {
  const Result<std::vector<PlannedCell>> cells = TryExpand(text);
  return cells.ok() ? "no error" : cells.error().message;
}

std::vector<std::string> Labels(const std::vector<PlannedCell>& cells) {
  std::vector<std::string> labels;
  for (const PlannedCell& planned : cells) labels.push_back(planned.cell.Label());
  return labels;
}

TEST(MatrixTest, IsTheProductOfTheAxesWithTheLastOneFastest) {
  const auto cells = ExpandText("batch: [8, 4]\nnetwork: lenet\nworker: [torch, reference]\n");
  EXPECT_THAT(Labels(cells), ElementsAre("worker=torch network=lenet data=mnist batch=8",
                                         "worker=torch network=lenet data=mnist batch=4",
                                         "worker=reference network=lenet data=mnist batch=8",
                                         "worker=reference network=lenet data=mnist batch=4"));
  for (const PlannedCell& planned : cells) {
    EXPECT_EQ(planned.id, planned.cell.Id());
    EXPECT_EQ(planned.block, "s");
  }
}

TEST(MatrixTest, CellsCarryTheBudgetAndTheLimitsOfTheirBlock) {
  const auto cells = ExpandText(R"(
defaults: {worker: reference}
blocks:
  - {name: a, network: lenet, steps: 7}
  - {name: b, network: lstm, timeout: 3m}
)");
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].block, "a");
  EXPECT_EQ(cells[0].budget.fixed_steps, 7);
  EXPECT_EQ(cells[1].block, "b");
  EXPECT_EQ(cells[1].budget.fixed_steps, 0);
  EXPECT_EQ(cells[1].limits.timeout_ns, 180'000'000'000);
}

TEST(MatrixTest, NamingTheOwnDataSetOrNotIsTheSameCell) {
  const auto cells = ExpandText("worker: reference\nnetwork: lenet\ndata: ['', mnist]\n");
  EXPECT_THAT(Labels(cells), ElementsAre("worker=reference network=lenet data=mnist"));
}

TEST(MatrixTest, OptionsAreDimensionsToo) {
  const auto cells =
      ExpandText("worker: torch\nnetwork: lenet\noption: {layout: [nchw, nhwc]}\noption.fuse: 1\n");
  EXPECT_THAT(
      Labels(cells),
      ElementsAre("worker=torch network=lenet data=mnist option.fuse=1 option.layout=nchw",
                  "worker=torch network=lenet data=mnist option.fuse=1 option.layout=nhwc"));
}

TEST(MatrixTest, ExcludeTakesCellsThatMatchAllOfAPattern) {
  const auto cells = ExpandText(R"(
worker: [reference, torch@2.1]
network: lenet
batch: [1, 2, 4]
option.layout: [a, b]
exclude:
  - {worker: torch, batch: [2, 4]}     # a worker without a version stands for all of its versions
  - {worker: reference, option.layout: b}
  - {data: mnist, batch: 4, option: {layout: a}}
)");
  EXPECT_THAT(Labels(cells),
              ElementsAre("worker=reference network=lenet data=mnist batch=1 option.layout=a",
                          "worker=reference network=lenet data=mnist batch=2 option.layout=a",
                          "worker=torch@2.1 network=lenet data=mnist batch=1 option.layout=a",
                          "worker=torch@2.1 network=lenet data=mnist batch=1 option.layout=b"));
}

TEST(MatrixTest, AnExcludeThatMatchesNothingIsAMistake) {
  EXPECT_EQ(ErrorOf("worker: reference\nnetwork: lenet\nbatch: [1, 2]\nexclude:\n  - {batch: 3}\n"),
            "s.yaml:5:5: exclude: the entry matches no cell of block 's'");
  EXPECT_THAT(ErrorOf("worker: reference\nnetwork: lenet\nexclude: [{option.x: 1}]\n"),
              HasSubstr("no cell of block 's'"));
  EXPECT_EQ(
      ErrorOf("worker: reference\nnetwork: lenet\nbatch: [1, 2]\nexclude: [{phase: train}]\n"),
      "s.yaml:1:1: block 's' has no cells: 'exclude' removes all of them");
}

TEST(MatrixTest, IncludeAddsCellsWithTheFirstValuesOfTheBlock) {
  const auto cells = ExpandText(R"(
worker: [native, torch]
network: lenet
batch: [1, 2]
exclude:
  - {batch: 2}
include:
  - {network: alexnet, batch: [2, 4]}
  - {worker: native, batch: 1}         # there already
)");
  EXPECT_THAT(Labels(cells), ElementsAre("worker=native network=lenet data=mnist batch=1",
                                         "worker=torch network=lenet data=mnist batch=1",
                                         "worker=native network=alexnet data=imagenet batch=2",
                                         "worker=native network=alexnet data=imagenet batch=4"));
}

TEST(MatrixTest, ABlockWithoutANetworkIsItsIncludeList) {
  const auto cells =
      ExpandText("worker: native\ninclude:\n  - {network: lenet, batch: 1}\n  - {network: lstm}\n");
  EXPECT_THAT(Labels(cells), ElementsAre("worker=native network=lenet data=mnist batch=1",
                                         "worker=native network=lstm data=imdb"));
}

TEST(MatrixTest, UnknownNamesPointAtTheValueAndHint) {
  EXPECT_EQ(ErrorOf("worker: [reference,\n  troch]\nnetwork: lenet\n"),
            "s.yaml:2:3: unknown worker 'troch'; did you mean 'torch'?");
  EXPECT_EQ(ErrorOf("worker: torch\nnetwork: lenett\n"),
            "s.yaml:2:10: unknown network 'lenett'; did you mean 'lenet'?");
  EXPECT_EQ(ErrorOf("worker: torch\nnetwork: lenet\ndata: mnits\n"),
            "s.yaml:3:7: unknown data set 'mnits'; did you mean 'mnist'?");
  EXPECT_EQ(ErrorOf("worker: torch\nnetwork: lenet\nexclude: [{worker: ntaive}]\n"),
            "s.yaml:3:20: unknown worker 'ntaive'; did you mean 'native'?");
  EXPECT_EQ(ErrorOf("worker: torch\nnetwork: lenet\ninclude: [{network: lsmt}]\n"),
            "s.yaml:3:21: unknown network 'lsmt'; did you mean 'lstm'?");
  EXPECT_EQ(ErrorOf("worker: zzzzzzzz\nnetwork: lenet\n"),
            "s.yaml:1:9: unknown worker 'zzzzzzzz'; there are reference, native, torch");
  EXPECT_EQ(ErrorOf("worker: ''\nnetwork: lenet\n"), "s.yaml:1:9: no worker is named");
  EXPECT_EQ(ErrorOf("worker: torch\nnetwork: ''\n"), "s.yaml:2:10: no network is named");
}

TEST(MatrixTest, ChecksTheNameOfAWorkerAndLeavesItsVersion) {
  EXPECT_THAT(Labels(ExpandText("worker: torch@2.1.0\nnetwork: lenet\n")),
              ElementsAre("worker=torch@2.1.0 network=lenet data=mnist"));
  EXPECT_THAT(ErrorOf("worker: troch@2\nnetwork: lenet\n"),
              HasSubstr("unknown worker 'troch'; did you mean 'torch'?"));
  EXPECT_THAT(ErrorOf("worker: torch@\nnetwork: lenet\n"), HasSubstr("names no version"));
  EXPECT_THAT(ErrorOf("worker: '@2'\nnetwork: lenet\n"), HasSubstr("no worker is named"));
}

TEST(MatrixTest, PathsPassForNetworks) {
  const auto cells = ExpandText("worker: torch\nnetwork: [./own, own.json]\n");
  EXPECT_THAT(Labels(cells),
              ElementsAre("worker=torch network=./own", "worker=torch network=own.json"));
}

TEST(MatrixTest, APairWithoutAFormStaysACell) {
  EXPECT_THAT(Labels(ExpandText("worker: torch\nnetwork: lstm\ndata: mnist\n")),
              ElementsAre("worker=torch network=lstm data=mnist"));
}

TEST(MatrixTest, TheSameCellInTwoBlocksMergesWhenItsSettingsAgree) {
  const auto cells = ExpandText(R"(
defaults: {worker: torch, network: lenet, steps: 5}
blocks:
  - {name: a, batch: [1, 2]}
  - {name: b, batch: [2, 4], steps: 5}
)");
  ASSERT_EQ(cells.size(), 3u);
  EXPECT_EQ(cells[1].block, "a");
  EXPECT_EQ(cells[2].block, "b");
}

TEST(MatrixTest, TheSameCellWithDifferentSettingsNamesBothBlocks) {
  const std::string error = ErrorOf(R"(
defaults: {worker: torch, network: lenet}
blocks:
  - {name: first, batch: [1, 2], steps: 5}
  - {name: second, batch: [2, 4], steps: 6}
)");
  EXPECT_THAT(
      error,
      StartsWith(
          "s.yaml:5:5: blocks 'first' and 'second' have the same cell "
          "(worker=torch network=lenet data=mnist batch=2) with different settings: steps 5"));
  EXPECT_THAT(error, HasSubstr("steps 6"));
  EXPECT_THAT(ErrorOf("defaults: {worker: torch, network: lenet}\nblocks:\n  - {name: a, timeout: "
                      "3m}\n  - {name: b}\n"),
              HasSubstr("blocks 'a' and 'b'"));
}

TEST(MatrixTest, SettingsOfTheStopRuleDoNotMatterUnderFixedSteps) {
  EXPECT_EQ(ExpandText(R"(
defaults: {worker: torch, network: lenet, interval: 2%}
blocks:
  - {name: a, steps: 5}
  - {name: b, steps: 5}
)")
                .size(),
            1u);
}

TEST(MatrixTest, RefusesAnEpochWithoutAWholeBatch) {
  EXPECT_THAT(ErrorOf("worker: torch\nnetwork: lenet\nimages: 100\nepochs: 2\nbatch: [100, 101]\n"),
              HasSubstr("an epoch of 100 images has no whole batch of 101"));
  EXPECT_EQ(ErrorOf("worker: torch\nnetwork: lenet\nimages: 0\nepochs: 2\nbatch: 101\n"),
            "no error");
}

TEST(MatrixTest, RefusesAProductThatIsTooLargeWithItsNumbers) {
  EXPECT_EQ(ErrorOf("worker: torch\nnetwork: lenet\nbatch: {from: 1, to: 2000, step: 1}\nthreads: "
                    "{from: 1, to: 1000, "
                    "step: 1}\n"),
            "s.yaml:1:1: block 's' has 2000000 cells (1000 threads x 2000 batch); a suite may have "
            "1000000");
  std::string huge = "worker: torch\nnetwork: lenet\n";
  for (int i = 0; i < 30; ++i)
    huge += fmt::format("option.o{}: {{from: 1, to: 10000, step: 1}}\n", i);
  EXPECT_THAT(ErrorOf(huge), HasSubstr("1e+120 cells"));
}

TEST(MatrixTest, RefusesBlocksThatAreTooManyCellsTogether) {
  std::string text = "defaults: {worker: torch, network: lenet}\nblocks:\n";
  text += "  - {name: a, batch: {from: 1, to: 1000, step: 1}}\n";
  text +=
      "  - {name: b, seed: {from: 2, to: 1000, step: 1}, batch: {from: 1, to: 1001, step: 1}}\n";
  EXPECT_THAT(ErrorOf(text),
              StartsWith("s.yaml:4:5: with the 999999 cells of block 'b' the suite has 1000999"));
}

TEST(MatrixTest, ResolvesOneCell) {
  Cell cell;
  ASSERT_TRUE(cell.Set("worker", "torch@2").ok());
  ASSERT_TRUE(cell.Set("network", "lenet").ok());
  ASSERT_TRUE(ResolveCell(TestCatalog(), cell).ok());
  EXPECT_EQ(cell.Text(kAxisData), "mnist");
  ASSERT_TRUE(cell.Set("network", "lenat").ok());
  EXPECT_EQ(ResolveCell(TestCatalog(), cell).error().message,
            "unknown network 'lenat'; did you mean 'lenet'?");
  Cell unnamed;
  EXPECT_EQ(ResolveCell(TestCatalog(), unnamed).error().message, "no worker is named");
}

TEST(MatrixTest, ARoundIsAPermutationThatSeedAndRoundDecide) {
  const auto order = RoundOrder(1000, 7, 3);
  std::set<size_t> all(order.begin(), order.end());
  EXPECT_EQ(all.size(), 1000u);
  EXPECT_EQ(*all.rbegin(), 999u);
  EXPECT_EQ(RoundOrder(1000, 7, 3), order);
  EXPECT_NE(RoundOrder(1000, 7, 4), order);
  EXPECT_NE(RoundOrder(1000, 8, 3), order);
  EXPECT_TRUE(RoundOrder(0, 1, 1).empty());
  EXPECT_THAT(RoundOrder(1, 1, 1), ElementsAre(0u));
}

TEST(MatrixTest, EveryPlaceOfARoundIsEquallyLikely) {
  int first_place[4] = {};
  constexpr int kRounds = 4000;
  for (int round = 0; round < kRounds; ++round) ++first_place[RoundOrder(4, 42, round)[0]];
  // Four standard deviations of a binomial distribution with n = 4000 and p = 1/4. The seed is
  // fixed, so the test is deterministic.
  for (const int count : first_place) EXPECT_NEAR(count, kRounds / 4, 110);
}

TEST(MatrixTest, TheOrderOfARoundNeverChangesFromVersionToVersion) {
  // Pinned, so that a study keeps its order when another version resumes it.
  EXPECT_THAT(RoundOrder(8, 1, 0), ElementsAre(0u, 5u, 2u, 7u, 3u, 4u, 1u, 6u));
}

TEST(MatrixTest, RealDataIsPartOfTheCellWithItsFingerprint) {
  const auto cells = ExpandText("worker: native\nnetwork: [lenet, lstm]\ndata: 'mnist:files'\n");
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].cell.Text(kAxisData), "mnist:files,fingerprint=1");
  EXPECT_EQ(cells[1].cell.Text(kAxisData), "mnist:files") << "its run will be unsupported";
}

TEST(MatrixTest, RealDataThatCannotBeReadIsAnErrorOfTheSuite) {
  EXPECT_THAT(ErrorOf("worker: native\nnetwork: lenet\ndata: 'mnist:broken'\n"),
              testing::HasSubstr("broken: offset 5: the file is truncated"));
  Cell cell;
  ASSERT_TRUE(cell.Set("worker", "native").ok() && cell.Set("network", "lenet").ok() &&
              cell.Set("data", "mnist:broken").ok());
  EXPECT_FALSE(ResolveCell(TestCatalog(), cell).ok());
  ASSERT_TRUE(cell.Set("data", "mnist:files").ok());
  ASSERT_TRUE(ResolveCell(TestCatalog(), cell).ok());
  EXPECT_EQ(cell.Text(kAxisData), "mnist:files,fingerprint=1");
}

}  // namespace
}  // namespace tench::matrix_test
