// SPDX-License-Identifier: Apache-2.0
#include "plan/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace tench::suite_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kSmall = "worker: reference\nnetwork: lenet\n";

Suite Parse(std::string_view text) {
  Result<Suite> suite = ParseSuite(text, "folder/s.yaml");
  EXPECT_TRUE(suite.ok()) << suite.error().message;
  return suite.ok() ? *std::move(suite) : Suite();
}

// kSmall with more lines, which begin at line 3.
Suite ParseSmall(std::string_view more) { return Parse(std::string(kSmall) + std::string(more)); }

std::string ErrorOf(std::string_view text) {
  const Result<Suite> suite = ParseSuite(text, "s.yaml");
  return suite.ok() ? "no error" : suite.error().message;
}

std::string ErrorOfSmall(std::string_view more) {
  return ErrorOf(std::string(kSmall) + std::string(more));
}

std::vector<std::string> Values(const Block& block, std::string_view axis) {
  for (const AxisList& list : block.axes)
    if (list.name == axis) return list.values;
  return {};
}

TEST(SuiteTest, ASingleBlockNeedsNoList) {
  const Suite suite = ParseSmall("batch: [16, 64]\ntitle: A title\nrounds: 2\n");
  EXPECT_EQ(suite.name, "s");
  EXPECT_EQ(suite.title, "A title");
  EXPECT_EQ(suite.rounds, 2);
  EXPECT_EQ(suite.origin, "folder/s.yaml");
  ASSERT_EQ(suite.blocks.size(), 1u);
  EXPECT_EQ(suite.blocks[0].name, "s");
  EXPECT_THAT(Values(suite.blocks[0], "worker"), ElementsAre("reference"));
  EXPECT_THAT(Values(suite.blocks[0], "batch"), ElementsAre("16", "64"));
}

TEST(SuiteTest, BlocksTakeWhatTheyDoNotSayFromTheDefaults) {
  const Suite suite = Parse(R"(
name: own
defaults:
  worker: [reference, native]
  batch: [1, 2]
  option.layout: nchw
  warmup: 7
  timeout: 2m
  swap: kill
blocks:
  - network: lenet
  - name: second
    network: lstm
    batch: 4
    option: {layout: nhwc}
    warmup: 0
)");
  EXPECT_EQ(suite.name, "own");
  EXPECT_EQ(suite.rounds, 5);
  ASSERT_EQ(suite.blocks.size(), 2u);
  EXPECT_EQ(suite.blocks[0].name, "block-1");
  EXPECT_THAT(Values(suite.blocks[0], "worker"), ElementsAre("reference", "native"));
  EXPECT_THAT(Values(suite.blocks[0], "batch"), ElementsAre("1", "2"));
  EXPECT_THAT(Values(suite.blocks[0], "option.layout"), ElementsAre("nchw"));
  EXPECT_EQ(suite.blocks[0].budget.warmup_steps, 7);
  EXPECT_EQ(suite.blocks[0].limits.timeout_ns, 120'000'000'000);
  EXPECT_EQ(suite.blocks[1].name, "second");
  EXPECT_THAT(Values(suite.blocks[1], "batch"), ElementsAre("4"));
  EXPECT_THAT(Values(suite.blocks[1], "option.layout"), ElementsAre("nhwc"));
  EXPECT_EQ(suite.blocks[1].budget.warmup_steps, 0);
  EXPECT_EQ(suite.blocks[1].limits.swap, SwapPolicy::kKill);
}

TEST(SuiteTest, AxesStandInTheOrderOfTheTableAndOptionsLast) {
  const Suite suite =
      Parse("option.b: 1\nbatch: 2\noption.a: 3\nnetwork: lenet\nworker: reference\n");
  std::vector<std::string> names;
  for (const AxisList& list : suite.blocks[0].axes) names.push_back(list.name);
  EXPECT_THAT(names, ElementsAre("worker", "network", "batch", "option.a", "option.b"));
}

TEST(SuiteTest, WritesRangesOut) {
  EXPECT_THAT(Values(ParseSmall("batch: {from: 1, to: 512, times: 2}\n").blocks[0], "batch"),
              ElementsAre("1", "2", "4", "8", "16", "32", "64", "128", "256", "512"));
  EXPECT_THAT(Values(ParseSmall("threads: {from: 0, to: 7, step: 3}\n").blocks[0], "threads"),
              ElementsAre("0", "3", "6"));
  EXPECT_THAT(Values(ParseSmall("batch: [3, {from: 1, to: 4, step: 1}]\n").blocks[0], "batch"),
              ElementsAre("3", "1", "2", "4"));
  EXPECT_THAT(Values(ParseSmall("lr: {from: 0.001, to: 0.1, times: 10}\n").blocks[0], "lr"),
              ElementsAre("0.001", "0.01", "0.1"));
  EXPECT_THAT(Values(ParseSmall("momentum: {from: 0, to: 0.3, step: 0.1}\n").blocks[0], "momentum"),
              ElementsAre("0", "0.1", "0.2", "0.3"));
  EXPECT_THAT(
      Values(ParseSmall("option: {depth: {from: -1, to: 1, step: 1}}\n").blocks[0], "option.depth"),
      ElementsAre("-1", "0", "1"));
  EXPECT_THAT(Values(ParseSmall("batch: {from: 5, to: 5, times: 2}\n").blocks[0], "batch"),
              ElementsAre("5"));
}

TEST(SuiteTest, RefusesRangesThatMakeNoSense) {
  EXPECT_THAT(ErrorOfSmall("batch: {from: 1, to: 8}\n"),
              StartsWith("s.yaml:3:8: batch: a range needs either 'times' or 'step'"));
  EXPECT_THAT(ErrorOfSmall("batch: {from: 1, to: 8, times: 2, step: 1}\n"),
              HasSubstr("either 'times' or 'step'"));
  EXPECT_THAT(ErrorOfSmall("batch: {to: 8, times: 2}\n"), HasSubstr("needs 'from' and 'to'"));
  EXPECT_THAT(ErrorOfSmall("batch: {from: 8, to: 1, times: 2}\n"),
              HasSubstr("ends at 1, before it begins at 8"));
  EXPECT_THAT(ErrorOfSmall("batch: {from: 1, to: 8, times: 1}\n"), HasSubstr("'1' is not from 2"));
  EXPECT_THAT(ErrorOfSmall("batch: {from: 1, to: 8, step: 0}\n"), HasSubstr("'0' is not from 1"));
  EXPECT_THAT(ErrorOfSmall("threads: {from: 0, to: 8, times: 2}\n"),
              HasSubstr("'0' is not from 1"));
  EXPECT_THAT(ErrorOfSmall("batch: {from: 1, to: 8, tmes: 2}\n"),
              StartsWith("s.yaml:3:25: batch: unknown key 'tmes'"));
  EXPECT_THAT(ErrorOfSmall("batch: {from: 1, to: 8, tmes: 2}\n"),
              HasSubstr("did you mean 'times'?"));
  EXPECT_THAT(ErrorOfSmall("batch: {from: [1], to: 8, times: 2}\n"),
              HasSubstr("'from' needs a number, not a list"));
  EXPECT_THAT(ErrorOfSmall("batch: {from: x, to: 8, times: 2}\n"),
              HasSubstr("'x' is not an integer"));
  EXPECT_THAT(ErrorOfSmall("device: {from: 1, to: 8, times: 2}\n"),
              HasSubstr("expected a value or a list of values, not a map"));
  EXPECT_THAT(ErrorOfSmall("batch: {from: 1, to: 9007199254740992, step: 1}\n"),
              HasSubstr("more than 100000 values"));
  EXPECT_THAT(ErrorOfSmall("batch: {from: 1, to: 99999999999999999999, step: 1}\n"),
              HasSubstr("does not fit"));
  EXPECT_THAT(ErrorOfSmall("lr: {from: 0.1, to: inf, times: 2}\n"), StartsWith("s.yaml:3:"));
  EXPECT_THAT(ErrorOfSmall("lr: {from: 0.1, to: 1, times: nan}\n"), StartsWith("s.yaml:3:"));
  EXPECT_THAT(ErrorOfSmall("lr: {from: 0.1, to: 1, step: 1e-300}\n"),
              HasSubstr("more than 100000 values"));
  EXPECT_THAT(ErrorOfSmall("lr: {from: 0, to: 1, times: 2}\n"), HasSubstr("not above 0"));
}

TEST(SuiteTest, KeepsAValueOnceAndInItsCanonicalSpelling) {
  EXPECT_THAT(Values(ParseSmall("batch: [16, 016, \"16\", 8]\n").blocks[0], "batch"),
              ElementsAre("16", "8"));
  EXPECT_THAT(Values(ParseSmall("lr: [1e-2, 0.01, 0.010]\n").blocks[0], "lr"), ElementsAre("0.01"));
}

TEST(SuiteTest, RefusesUnknownKeyAndNamesTheNearest) {
  EXPECT_EQ(ErrorOfSmall("batsh: 3\n"), "s.yaml:3:1: unknown key 'batsh'; did you mean 'batch'?");
  EXPECT_EQ(ErrorOfSmall("time_limt: 3\n"),
            "s.yaml:3:1: unknown key 'time_limt'; did you mean 'time_limit'?");
  EXPECT_EQ(ErrorOf("nmae: x\nblocks: [{worker: w, network: n}]\n"),
            "s.yaml:1:1: unknown key 'nmae'; did you mean 'name'?");
  EXPECT_EQ(ErrorOf("defaults: {wroker: x}\nnetwork: n\n"),
            "s.yaml:1:12: unknown key 'wroker'; did you mean 'worker'?");
  EXPECT_EQ(ErrorOf("blocks:\n  - worker: w\n    netwrok: n\n"),
            "s.yaml:3:5: unknown key 'netwrok'; did you mean 'network'?");
  EXPECT_EQ(ErrorOfSmall("exclude: [{bathc: 3}]\n"),
            "s.yaml:3:12: unknown key 'bathc'; did you mean 'batch'?");
  EXPECT_EQ(ErrorOfSmall("<<: 3\n"), "s.yaml:3:1: unknown key '<<'");
}

TEST(SuiteTest, RefusesValuesThatAnAxisDoesNotTake) {
  EXPECT_EQ(ErrorOfSmall("batch: 0\n"),
            "s.yaml:3:8: batch: '0' is not an integer from 1 to 1048576");
  EXPECT_THAT(ErrorOfSmall("batch: [16, 1000000000000]\n"),
              StartsWith("s.yaml:3:13: batch: '1000000000000' is not an integer"));
  EXPECT_THAT(ErrorOfSmall("phase: [trian]\n"), HasSubstr("did you mean 'train'?"));
  EXPECT_THAT(ErrorOfSmall("option.: 3\n"), StartsWith("s.yaml:3:"));
  EXPECT_THAT(ErrorOfSmall("option: {'a b': 3}\n"), StartsWith("s.yaml:3:"));
}

TEST(SuiteTest, RefusesWrongTypesWithOneLine) {
  EXPECT_EQ(ErrorOf(""), "s.yaml:1:1: the suite is empty");
  EXPECT_EQ(ErrorOf("# nothing\n"), "s.yaml:1:1: the suite is empty");
  EXPECT_EQ(ErrorOf("- a\n"), "s.yaml:1:1: suite: expected a map, not a list");
  EXPECT_EQ(ErrorOf("just text\n"), "s.yaml:1:1: suite: expected a map, not a value");
  EXPECT_EQ(ErrorOf("blocks: {worker: x}\n"), "s.yaml:1:9: blocks: expected a list, not a map");
  EXPECT_EQ(ErrorOf("blocks: []\n"), "s.yaml:1:9: blocks: the list is empty");
  EXPECT_EQ(ErrorOf("blocks: [x]\n"),
            "s.yaml:1:10: blocks: expected a map of axes and settings, not a value");
  EXPECT_THAT(ErrorOf("blocks:\n"), HasSubstr("blocks: expected a list, not nothing"));
  EXPECT_THAT(ErrorOf("defaults: [x]\nworker: a\nnetwork: b\n"),
              HasSubstr("defaults: expected a map of axes and settings"));
  EXPECT_EQ(ErrorOfSmall("batch: []\n"), "s.yaml:3:8: batch: the list is empty");
  EXPECT_EQ(ErrorOfSmall("batch: [[1]]\n"), "s.yaml:3:9: batch: nested lists are not allowed");
  EXPECT_THAT(ErrorOfSmall("batch:\n"), HasSubstr("batch: a value is missing"));
  EXPECT_THAT(ErrorOfSmall("batch: [1, ~]\n"), HasSubstr("batch: a value is missing"));
  EXPECT_THAT(ErrorOfSmall("option: 3\n"),
              HasSubstr("option: expected a map such as {layout: [nchw, nhwc]}"));
  EXPECT_THAT(ErrorOfSmall("steps: [1, 2]\n"), HasSubstr("steps: expected one value, not a list"));
  EXPECT_THAT(ErrorOfSmall("title: [a]\n"), HasSubstr("title: expected one line of text"));
  EXPECT_THAT(ErrorOfSmall("name: {a: b}\n"), HasSubstr("name: expected a word, not a map"));
  EXPECT_THAT(ErrorOfSmall("rounds: [3]\n"), HasSubstr("rounds: expected a number"));
  EXPECT_THAT(ErrorOfSmall("exclude: {batch: 3}\n"),
              HasSubstr("exclude: expected a list of maps, not a map"));
  EXPECT_THAT(ErrorOfSmall("include: [3]\n"),
              HasSubstr("include: expected a map of axes, not a value"));
  EXPECT_THAT(ErrorOfSmall("include: []\n"), HasSubstr("include: the list is empty"));
  EXPECT_THAT(ErrorOfSmall("exclude: [{}]\n"), HasSubstr("exclude: the map is empty"));
}

TEST(SuiteTest, RefusesAxesBesideBlocksAndPatternsInDefaults) {
  EXPECT_EQ(
      ErrorOf("batch: 3\nblocks: [{worker: w, network: n}]\n"),
      "s.yaml:1:1: 'batch' is not allowed beside 'blocks': move it to 'defaults' or to a block");
  EXPECT_THAT(ErrorOf("defaults:\n  exclude: [{batch: 3}]\nworker: w\nnetwork: n\n"),
              HasSubstr("'exclude' is allowed in a block"));
  EXPECT_THAT(ErrorOfSmall("exclude: [{steps: 3}]\n"),
              HasSubstr("'steps' is a setting of the block"));
}

TEST(SuiteTest, RefusesAnAxisThatIsSaidTwice) {
  EXPECT_THAT(ErrorOfSmall("batch: 1\nbatch: 2\n"), HasSubstr("duplicate key 'batch'"));
  EXPECT_EQ(ErrorOfSmall("option.a: 1\noption: {a: 2}\n"),
            "s.yaml:4:10: 'option.a' is given twice");
}

TEST(SuiteTest, RefusesBadNamesAndRounds) {
  EXPECT_THAT(ErrorOfSmall("name: 'a b'\n"), HasSubstr("name: 'a b' is not a word"));
  EXPECT_THAT(ErrorOfSmall("name: ../x\n"), HasSubstr("is not a word"));
  EXPECT_THAT(ErrorOfSmall("name: ''\n"), HasSubstr("is not a word"));
  EXPECT_THAT(ErrorOfSmall("rounds: 0\n"),
              HasSubstr("rounds: '0' is not an integer from 1 to 10000"));
  EXPECT_THAT(
      ErrorOf(
          "blocks:\n  - {name: a, worker: w, network: n}\n  - {name: a, worker: w, network: n}\n"),
      HasSubstr("two blocks have the name 'a'"));
  EXPECT_THAT(
      ErrorOf("blocks:\n  - {name: block-2, worker: w, network: n}\n  - {worker: w, network: n}\n"),
      HasSubstr("two blocks have the name 'block-2'"));
}

TEST(SuiteTest, EveryBlockNamesAWorkerAndANetwork) {
  EXPECT_EQ(ErrorOf("network: lenet\n"), "s.yaml:1:1: block 's' names no worker");
  EXPECT_EQ(ErrorOf("worker: reference\n"), "s.yaml:1:1: block 's' names no network");
  EXPECT_EQ(ErrorOf("worker: w\ninclude:\n  - {network: a}\n  - {batch: 3}\n"),
            "s.yaml:4:5: include: neither this entry nor block 's' names a network");
  EXPECT_THAT(ErrorOf("worker: w\ninclude: [{network: a}]\nexclude: [{batch: 3}]\n"),
              HasSubstr("nothing to exclude from"));
  EXPECT_EQ(Parse("worker: w\ninclude: [{network: a}]\n").blocks[0].include.size(), 1u);
}

TEST(SuiteTest, ReadsEverySetting) {
  const Block rule =
      ParseSmall(
          "warmup: 1\nmin_steps: 5\nmin_time: 250ms\ninterval: 2%\ntime_limit: 3s\ntimeout: 1m\n"
          "memory_limit: 1.5GiB\nswap: kill\n")
          .blocks[0];
  EXPECT_EQ(rule.budget.warmup_steps, 1);
  EXPECT_EQ(rule.budget.min_steps, 5);
  EXPECT_EQ(rule.budget.min_time_ns, 250'000'000);
  EXPECT_DOUBLE_EQ(rule.budget.relative_interval, 0.02);
  EXPECT_EQ(rule.budget.time_limit_ns, 3'000'000'000);
  EXPECT_EQ(rule.limits.timeout_ns, 60'000'000'000);
  EXPECT_EQ(rule.limits.memory_bytes, int64_t{3} << 29);
  EXPECT_EQ(rule.limits.swap, SwapPolicy::kKill);
  EXPECT_EQ(ParseSmall("steps: 100\n").blocks[0].budget.fixed_steps, 100);
  EXPECT_EQ(ParseSmall("epochs: 10\nimages: 1024\n").blocks[0].budget.epochs, 10);
  EXPECT_DOUBLE_EQ(ParseSmall("interval: 0.005\n").blocks[0].budget.relative_interval, 0.005);
}

TEST(SuiteTest, RefusesBadSettings) {
  EXPECT_EQ(ErrorOfSmall("steps: 0\n"),
            "s.yaml:3:8: steps: '0' is not an integer from 1 to 1000000000");
  EXPECT_THAT(ErrorOfSmall("warmup: -1\n"), HasSubstr("warmup: '-1' is not an integer"));
  EXPECT_THAT(ErrorOfSmall("min_time: soon\n"), HasSubstr("min_time: 'soon' is not a duration"));
  EXPECT_THAT(ErrorOfSmall("timeout: 0\n"), HasSubstr("timeout: '0' is too short"));
  EXPECT_THAT(ErrorOfSmall("timeout: 9999999h\n"), HasSubstr("timeout: "));
  EXPECT_THAT(ErrorOfSmall("interval: 1\n"), HasSubstr("interval: '1' is not a share"));
  EXPECT_THAT(ErrorOfSmall("interval: nan\n"), HasSubstr("interval: 'nan' is not a share"));
  EXPECT_THAT(ErrorOfSmall("interval: 0%\n"), HasSubstr("interval: '0%' is not a share"));
  EXPECT_THAT(ErrorOfSmall("memory_limit: 4\n"), HasSubstr("less than 1 MiB"));
  EXPECT_THAT(ErrorOfSmall("swap: kil\n"), HasSubstr("did you mean 'kill'?"));
  EXPECT_THAT(ErrorOfSmall("min_time: 60s\n"), HasSubstr("longer than time_limit"));
  EXPECT_THAT(ErrorOfSmall("time_limit: 20m\n"), HasSubstr("not shorter than timeout"));
  EXPECT_EQ(ErrorOfSmall("time_limit: 20m\ntimeout: 30m\n"), "no error");
}

TEST(SuiteTest, StepsEpochsAndTheStopRuleExcludeEachOtherInOneMap) {
  EXPECT_EQ(ErrorOfSmall("steps: 3\nepochs: 4\nimages: 100\n"),
            "s.yaml:4:1: 'steps' and 'epochs' exclude each other");
  EXPECT_THAT(ErrorOfSmall("steps: 3\ninterval: 1%\n"),
              HasSubstr("'interval' has no effect beside 'steps'"));
  EXPECT_THAT(ErrorOfSmall("epochs: 3\n"), HasSubstr("'epochs' needs 'images'"));
  EXPECT_EQ(ErrorOfSmall("epochs: 3\nimages: 0\n"), "no error");
}

TEST(SuiteTest, ABlockReplacesTheKindOfBudgetThatTheDefaultsGive) {
  const Suite suite = Parse(R"(
defaults: {worker: w, network: n, images: 10, epochs: 4}
blocks:
  - {}
  - {steps: 9}
  - {min_steps: 8}
  - {warmup: 2}
)");
  ASSERT_EQ(suite.blocks.size(), 4u);
  EXPECT_EQ(suite.blocks[0].budget.epochs, 4);
  EXPECT_EQ(suite.blocks[1].budget.epochs, 0);
  EXPECT_EQ(suite.blocks[1].budget.fixed_steps, 9);
  EXPECT_EQ(suite.blocks[2].budget.epochs, 0);
  EXPECT_EQ(suite.blocks[2].budget.fixed_steps, 0);
  EXPECT_EQ(suite.blocks[2].budget.min_steps, 8);
  EXPECT_EQ(suite.blocks[3].budget.epochs, 4);
}

TEST(SuiteTest, FingerprintFollowsTheMeaningAndNotTheText) {
  const std::string plain = Parse("worker: w\nnetwork: n\nbatch: [1, 2, 4]\n").fingerprint;
  EXPECT_EQ(plain.size(), 16u);
  EXPECT_EQ(Parse("# comment\nbatch:   {from: 1, to: 4, times: 2}\nnetwork: \"n\"\nworker: [w]\n")
                .fingerprint,
            plain);
  EXPECT_EQ(
      Parse("title: T\nname: N\nrounds: 9\nworker: w\nnetwork: n\nbatch: [1, 2, 4]\n").fingerprint,
      plain);
  EXPECT_EQ(Parse("defaults: {batch: [1, 2, 4]}\nblocks: [{worker: w, network: n}]\n").fingerprint,
            plain);
  for (const std::string_view other :
       {"worker: w\nnetwork: n\nbatch: [1, 2]\n",
        "worker: w\nnetwork: n\nbatch: [1, 2, 4]\nsteps: 3\n",
        "worker: w\nnetwork: n\nbatch: [1, 2, 4]\ninterval: 2%\n",
        "worker: w\nnetwork: n\nbatch: [1, 2, 4]\ntimeout: 3m\n",
        "worker: w\nnetwork: n\nbatch: [1, 2, 4]\nwarmup: 0\n",
        "worker: w\nnetwork: n\nbatch: [1, 2, 4]\nexclude: [{batch: 1}]\n",
        "worker: w\nnetwork: n\nbatch: [1, 2, 4]\ninclude: [{batch: 1}]\n",
        "worker: w\nnetwork: n\nthreads: [1, 2, 4]\n"})
    EXPECT_NE(Parse(other).fingerprint, plain) << other;
}

TEST(SuiteTest, LoadsByPathOrByNameInAFolder) {
  const auto folder = TemporaryFolder::Make("tench-suite");
  ASSERT_TRUE(folder.ok());
  const auto path = folder->path() / "mine.yaml";
  ASSERT_TRUE(WriteFileAtomically(path, kSmall).ok());
  for (const std::string& name : {path.string(), std::string("mine"), std::string("mine.yaml")}) {
    const Result<Suite> suite = LoadSuite(name, {folder->path()});
    ASSERT_TRUE(suite.ok()) << suite.error().message;
    EXPECT_EQ(suite->name, "mine");
  }
  EXPECT_EQ(LoadSuite("mnie", {folder->path()}).error().message,
            "no suite 'mnie'; did you mean 'mine'?");
  EXPECT_THAT(LoadSuite("mnie.yaml", {folder->path()}).error().message,
              HasSubstr("did you mean 'mine'?"));
  EXPECT_FALSE(LoadSuite("", {folder->path()}).ok());
  EXPECT_FALSE(LoadSuite(folder->path().string() + "/none.yaml", {}).ok());
  EXPECT_FALSE(LoadSuite(folder->path().string(), {}).ok());
}

TEST(SuiteTest, RefusesALargeFileWithoutReadingItWhole) {
  const auto folder = TemporaryFolder::Make("tench-suite");
  ASSERT_TRUE(folder.ok());
  const auto path = folder->path() / "large.yaml";
  ASSERT_TRUE(WriteFileAtomically(path, std::string((4 << 20) + 1, '#')).ok());
  const Result<Suite> suite = LoadSuite(path.string(), {});
  ASSERT_FALSE(suite.ok());
  EXPECT_THAT(suite.error().message, HasSubstr("large.yaml"));
}

TEST(SuiteTest, EnvironmentVariablesAreAxesLikeOptions) {
  const Suite suite =
      Parse("worker: a\nnetwork: b\nenv.TF_XLA_FLAGS: [x, y]\nenv: {OMP_WAIT_POLICY: PASSIVE}\n");
  std::vector<std::string> names;
  for (const AxisList& list : suite.blocks[0].axes) names.push_back(list.name);
  EXPECT_THAT(names, testing::IsSupersetOf({"env.TF_XLA_FLAGS", "env.OMP_WAIT_POLICY"}));
  EXPECT_THAT(ErrorOf("worker: a\nnetwork: b\nenv.OMP_NUM_THREADS: 2\n"),
              HasSubstr("s.yaml:3:22: env.OMP_NUM_THREADS: OMP_NUM_THREADS follows from the axis"));
  EXPECT_THAT(ErrorOf("worker: a\nnetwork: b\nenv: 3\n"), HasSubstr("env: expected a map"));
}

TEST(SuiteTest, TheTuneBudgetIsASettingOfABlockAndHoldsATrial) {
  const Suite suite = Parse("worker: a\nnetwork: b\ntune_budget: 5s\n");
  EXPECT_EQ(suite.blocks[0].limits.tune_budget_ns, 5'000'000'000);
  const Suite usual = Parse("worker: a\nnetwork: b\n");
  EXPECT_EQ(usual.blocks[0].limits.tune_budget_ns, 30'000'000'000);
  EXPECT_NE(suite.fingerprint, usual.fingerprint);
  EXPECT_EQ(usual.fingerprint, Parse("worker: a\nnetwork: b\ntune_budget: 30s\n").fingerprint);
  for (const char* bad : {"0", "0.9s", "soon"})
    EXPECT_THAT(ErrorOf(fmt::format("worker: a\nnetwork: b\ntune_budget: {}\n", bad)),
                HasSubstr("tune_budget"));
}

TEST(SuiteTest, TurnsAreADifferentStudyAndRoundsTheDefault) {
  const Suite usual = ParseSmall("");
  EXPECT_EQ(usual.pairing, StudyPairing::kRounds);
  EXPECT_EQ(ParseSmall("pairing: rounds\n").fingerprint, usual.fingerprint);
  const Suite turns = ParseSmall("pairing: turns\n");
  EXPECT_EQ(turns.pairing, StudyPairing::kTurns);
  EXPECT_NE(turns.fingerprint, usual.fingerprint);
  EXPECT_THAT(ErrorOfSmall("pairing: turn\n"),
              HasSubstr("pairing: 'turn' is neither rounds nor turns; did you mean 'turns'?"));
}

TEST(SuiteTest, ReadsAnEvaluationAndItsTarget) {
  const Budget budget =
      ParseSmall(
          "images: 4000\nepochs: 9\ntest_data: 'mnist:digits/test'\neval_every: 50\n"
          "until: accuracy >= 98%\n")
          .blocks[0]
          .budget;
  EXPECT_EQ(budget.test_data, "mnist:digits/test");
  EXPECT_EQ(budget.eval_every, 50);
  EXPECT_EQ(budget.until, "accuracy >= 0.98");
  EXPECT_EQ(ErrorOfSmall("steps: 9\ntest_data: mnist\n"),
            "s.yaml:4:12: test_data: 'mnist' is not FORMAT:PATH, such as mnist:/data/mnist/test");
  EXPECT_THAT(ErrorOfSmall("steps: 9\nuntil: loss <= 1\n"), HasSubstr("'until' needs 'test_data'"));
  EXPECT_THAT(ErrorOfSmall("eval_every: 9\n"), HasSubstr("'eval_every' needs 'test_data'"));
  EXPECT_THAT(ErrorOfSmall("test_data: 'mnist:x'\nuntil: loss <= 1\n"),
              HasSubstr("'until' needs a limit: 'epochs' or 'steps'"));
  EXPECT_THAT(ErrorOfSmall("steps: 1\ntest_data: 'mnist:x'\nuntil: soon\n"),
              HasSubstr("until: 'soon' is neither"));
}

TEST(SuiteTest, AnEvaluationIsPartOfTheFingerprintOnlyWhereThereIsOne) {
  const std::string plain = ParseSmall("steps: 5\n").fingerprint;
  const std::string tested = ParseSmall("steps: 5\ntest_data: 'mnist:x'\n").fingerprint;
  EXPECT_NE(plain, tested);
  EXPECT_NE(tested, ParseSmall("steps: 5\ntest_data: 'mnist:x'\neval_every: 2\n").fingerprint);
}

}  // namespace
}  // namespace tench::suite_test
