// SPDX-License-Identifier: Apache-2.0
// docs/examples/tench-worker-plain is a worker on the Python kit. Its parity with `reference`
// checks the kit's generator, batches and stop rule against the C++ code. It needs numpy: that of
// python3, or of an environment of deps/workers.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"

namespace tench::plain_worker_test {
namespace {

constexpr const char* kNetwork = R"({"name": "two_layers", "layers": [
  {"name": "data", "op": "input", "shape": [6], "fill": {"kind": "gaussian", "mean": 0, "std": 1}},
  {"name": "label", "op": "input", "role": "label", "fill": {"kind": "integer", "low": 0, "high": 3}},
  {"name": "fc1", "op": "fc", "inputs": ["data"], "out_features": 8, "bias": {"lr_mult": 2, "decay_mult": 0}},
  {"name": "relu1", "op": "relu", "inputs": ["fc1"]},
  {"name": "fc2", "op": "fc", "inputs": ["relu1"], "out_features": 3},
  {"name": "loss", "op": "softmax_cross_entropy", "inputs": ["fc2", "label"]}]})";

class PlainWorkerTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(WriteFileAtomically(folder_.path() / "net.json", kNetwork).ok());
    const std::string python = PythonWithNumpy();
    if (python.empty()) GTEST_SKIP() << "no Python with numpy; make workers W=jax";
    setenv("PATH", (python + ":" TENCH_BIN_DIR ":" + getenv("PATH")).c_str(), 1);
  }

  // The folder of a python3 that has numpy; "" = none.
  static std::string PythonWithNumpy() {
    const char* root = getenv("TENCH_PYTHON_ENVS");
    const std::filesystem::path environments =
        root != nullptr ? root : TENCH_SOURCE_DIR "/deps/fetched/python";
    std::vector<std::string> folders = {"/usr/bin", "/usr/local/bin"};
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(environments, error))
      folders.push_back((entry.path() / "bin").string());
    for (const std::string& folder : folders) {
      const std::string command = folder + "/python3 -c 'import numpy' 2>/dev/null";
      if (std::filesystem::exists(folder + "/python3") && system(command.c_str()) == 0)
        return folder;
    }
    return "";
  }

  Json Run(const std::string& worker, const std::string& flags,
           const std::string& path = TENCH_SOURCE_DIR "/docs/examples") {
    setenv("TENCH_WORKER_PATH", path.c_str(), 1);
    const std::string command =
        std::string(TENCH_BIN_DIR) + "/tench run --json --threads 1 --network " +
        (folder_.path() / "net.json").string() + " --worker " + worker + " " + flags;
    FILE* pipe = popen(command.c_str(), "r");
    std::string output;
    char buffer[4096];
    while (const size_t size = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, size);
    pclose(pipe);
    return Json::parse(output);
  }

  void ExpectSameLosses(const std::string& flags) {
    const Json plain = Run("plain", flags), reference = Run("reference", flags);
    ASSERT_EQ(plain["outcome"], "ok") << plain["reason"];
    const auto expected = reference["series"]["loss"].get<std::vector<double>>();
    const auto actual = plain["series"]["loss"].get<std::vector<double>>();
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i)
      EXPECT_NEAR(actual[i], expected[i], 1e-5 * expected[i]) << "step " << i;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Make("tench-plain");
};

TEST_F(PlainWorkerTest, TrainsAsReferenceDoes) { ExpectSameLosses("--batch 4 --steps 12"); }

TEST_F(PlainWorkerTest, CyclesThroughTheSameSamples) {
  ExpectSameLosses("--batch 4 --images 10 --labels 2 --input cycled --epochs 3 --seed 7");
}

TEST_F(PlainWorkerTest, ReadsTheSameFiles) {
  std::string rows;
  for (int i = 0; i < 7; ++i) rows += fmt::format("{0}.5,{1},-{0},0.25,{1},1,{1}\n", i, i % 3);
  const std::string file = (folder_.path() / "rows.csv").string();
  ASSERT_TRUE(WriteFileAtomically(file, rows).ok());
  ExpectSameLosses("--batch 3 --input cycled --steps 5 --data csv:" + file);
}

TEST_F(PlainWorkerTest, EvaluatesTheSameTestSplit) {
  std::string rows, test;
  for (int i = 0; i < 8; ++i) rows += fmt::format("{0}.5,{1},-{0},0.25,{1},1,{1}\n", i, i % 3);
  for (int i = 0; i < 5; ++i) test += fmt::format("{0},{1},-{0},0.5,{1},1,{1}\n", i, i % 3);
  const std::string file = (folder_.path() / "rows.csv").string();
  const std::string split = (folder_.path() / "test.csv").string();
  ASSERT_TRUE(WriteFileAtomically(file, rows).ok() && WriteFileAtomically(split, test).ok());
  const std::string flags =
      "--batch 4 --input cycled --epochs 3 --warmup 1 --eval-every 2 --data csv:" + file +
      " --test-data csv:" + split;
  const Json plain = Run("plain", flags), reference = Run("reference", flags);
  ASSERT_EQ(plain["outcome"], "ok") << plain["reason"];
  const Json expected = reference["summary"]["evaluations"],
             actual = plain["summary"]["evaluations"];
  ASSERT_EQ(expected.size(), 5u);  // steps 0, 2, 4, 6 and 7
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(actual[i]["step"], expected[i]["step"]);
    EXPECT_EQ(actual[i]["samples"], 5);
    EXPECT_EQ(actual[i]["top1"], expected[i]["top1"]) << i;
    const double loss = expected[i]["loss"];
    EXPECT_NEAR(actual[i]["loss"], loss, 1e-5 * loss) << i;
  }
}

// The example with a fault: `text` is replaced.
class FaultyWorkerTest : public PlainWorkerTest {
 protected:
  Json RunWith(const std::string& text, const std::string& replacement) {
    auto source = ReadFile(TENCH_SOURCE_DIR "/docs/examples/tench-worker-plain");
    EXPECT_TRUE(source.ok());
    std::string file = *source;
    const auto replace = [&](const std::string& from, const std::string& to) {
      const size_t at = file.find(from);
      ASSERT_NE(at, std::string::npos) << from;
      file.replace(at, from.size(), to);
    };
    replace("os.path.join(os.path.dirname(os.path.realpath(__file__)), \"..\", \"..\", \"python\")",
            "'" TENCH_SOURCE_DIR "/python'");
    replace(text, replacement);
    const std::filesystem::path path = folder_.path() / "tench-worker-plain";
    EXPECT_TRUE(WriteFileAtomically(path, file).ok());
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return Run("plain", "--batch 2 --steps 3", folder_.path().string());
  }
};

constexpr const char* kStep = "        loss = self.forward()\n";

TEST_F(FaultyWorkerTest, AMissingModuleIsTheReason) {
  const Json record = RunWith("        import numpy as np\n", "        import no_such_framework\n");
  EXPECT_EQ(record["outcome"], "crashed");
  EXPECT_EQ(record["reason"], "ModuleNotFoundError: No module named 'no_such_framework'");
}

TEST_F(FaultyWorkerTest, AnExceptionInAStepIsTheReasonAndItsTracebackIsInTheLog) {
  const Json record = RunWith(kStep, "        raise ValueError('the step is bad')\n");
  EXPECT_EQ(record["outcome"], "crashed");
  EXPECT_EQ(record["reason"], "ValueError: the step is bad");
  const std::string log = record["series"]["log"];
  EXPECT_NE(log.find("Traceback (most recent call last)"), std::string::npos) << log;
  EXPECT_NE(log.find("in step"), std::string::npos) << log;
}

TEST_F(FaultyWorkerTest, AFrameworkThatPrintsDisturbsNothing) {
  const Json record = RunWith(kStep, std::string("        print('chatter', flush=True)\n") + kStep);
  EXPECT_EQ(record["outcome"], "ok") << record["reason"];
}

TEST_F(FaultyWorkerTest, ASegfaultAtExitLeavesTheRunOkWithAFlag) {
  const Json record = RunWith("        self.graph, self.solver",
                              "        import atexit, signal\n"
                              "        atexit.register(os.kill, os.getpid(), signal.SIGSEGV)\n"
                              "        self.graph, self.solver");
  EXPECT_EQ(record["outcome"], "ok") << record["reason"];
  const auto flags = record["flags"].get<std::vector<std::string>>();
  EXPECT_NE(std::find(flags.begin(), flags.end(), "unclean_exit"), flags.end());
}

TEST_F(PlainWorkerTest, ObeysTheStopRule) {
  const Json record =
      Run("plain", "--batch 2 --phase forward --min-time 20ms --interval 20% --time-limit 2s");
  EXPECT_EQ(record["outcome"], "ok") << record["reason"];
  EXPECT_GE(record["summary"]["steps"], 10);
}

}  // namespace
}  // namespace tench::plain_worker_test
