// SPDX-License-Identifier: Apache-2.0
// Runs a real Caffe (TENCH_CAFFE, or `caffe` on PATH) on files that tench writes. Skipped if there
// is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"

namespace tench::caffe_binary_test {
namespace {

struct Output {
  std::string text;
  int code = -1;
};

Output Shell(const std::string& command) {
  FILE* pipe = popen(("sh -c " + ShellQuote("exec 2>&1\n" + command)).c_str(), "r");
  Output output;
  char buffer[4096];
  while (const size_t size = fread(buffer, 1, sizeof buffer, pipe))
    output.text.append(buffer, size);
  const int status = pclose(pipe);
  output.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return output;
}

class CaffeBinaryTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* named = std::getenv("TENCH_CAFFE");
    caffe_ = named != nullptr ? named : "caffe";
    if (Shell("command -v " + ShellQuote(caffe_)).code != 0)
      GTEST_SKIP() << "there is no caffe: put it on PATH or name it by TENCH_CAFFE";
  }

  Output Tench(const std::string& arguments) {
    return Shell("cd " + ShellQuote(folder_.path().string()) + " && " TENCH_BIN_DIR "/tench " +
                 arguments);
  }
  Output Caffe(const std::string& arguments) {
    return Shell("cd " + ShellQuote(folder_.path().string()) + " && GLOG_logtostderr=1 " +
                 ShellQuote(caffe_) + " " + arguments);
  }
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomically(folder_.path() / name, text).ok());
  }

  std::string caffe_;
  TemporaryFolder folder_ = *TemporaryFolder::Make("tench-caffe-");
};

constexpr const char* kSolver =
    "net: \"net.prototxt\"\nbase_lr: 0.001\nlr_policy: \"fixed\"\nmomentum: 0.9\nmax_iter: "
    "2\ndisplay: 1\nsnapshot_prefix: \"out\"\nsolver_mode: CPU\n";

TEST_F(CaffeBinaryTest, AcceptsWrittenNetworks) {
  Write("solver.prototxt", std::string(kSolver) + "snapshot_after_train: false\n");
  for (const std::string network : {"lenet", "autoencoder", "alexnet --data cifar10",
                                    "googlenet --data cifar10", "resnet18 --data cifar10"}) {
    const Output shown = Tench("show " + network + " --prototxt --batch 2 > net.prototxt");
    ASSERT_EQ(shown.code, 0) << shown.text;
    const Output trained = Caffe("train --solver solver.prototxt");
    EXPECT_EQ(trained.code, 0) << network << ":\n" << trained.text;
    EXPECT_THAT(trained.text, testing::HasSubstr("Iteration 1, lr = 0.001")) << network;
  }
}

TEST_F(CaffeBinaryTest, BeginsWithASnapshot) {
  Write("solver.prototxt", kSolver);
  ASSERT_EQ(Tench("show resnet18 --data cifar10 --prototxt --batch 2 > net.prototxt").code, 0);
  const Output trained = Tench("train --solver solver.prototxt --worker reference");
  ASSERT_EQ(trained.code, 0) << trained.text;
  const Output tuned = Caffe("train --solver solver.prototxt --weights out_iter_2.caffemodel");
  EXPECT_EQ(tuned.code, 0) << tuned.text;
  EXPECT_THAT(tuned.text, testing::Not(testing::HasSubstr("Ignoring source layer")))
      << "Caffe has no place for a layer of the snapshot";
}

}  // namespace
}  // namespace tench::caffe_binary_test
