// SPDX-License-Identifier: Apache-2.0
// A shell script replaces `caffe`: these tests cover the reading of a process.
#include "workers/caffe/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::caffe_worker::process_test {
namespace {

using testing::HasSubstr;

CaffeProcess Shell(const std::string& script) {
  return *CaffeProcess::Start("/bin/sh", {"-c", script}, "/tmp", 3);
}

TEST(CaffeProcessTest, GivesTheLinesOfBothStreamsAsTheyCome) {
  CaffeProcess process = Shell("echo one; echo two >&2; printf half");
  EXPECT_EQ(**process.ReadLine(), "one");
  EXPECT_EQ(**process.ReadLine(), "two");
  EXPECT_FALSE(process.ReadLine()->has_value());
  EXPECT_TRUE(process.Finish().ok());
}

TEST(CaffeProcessTest, ReadsALogThatIsLongerThanAnyBuffer) {
  CaffeProcess process = Shell(
      "i=0; while [ $i -lt 20000 ]; do echo \"a line that is written again and again\"; "
      "i=$((i+1)); done; echo last");
  EXPECT_TRUE(process.ReadUntil("last").ok());
}

TEST(CaffeProcessTest, TellsTheThreadsToEveryBlas) {
  CaffeProcess process =
      Shell("echo $OMP_NUM_THREADS $OPENBLAS_NUM_THREADS $MKL_NUM_THREADS $GLOG_logtostderr");
  EXPECT_EQ(**process.ReadLine(), "3 3 3 1");
}

TEST(CaffeProcessTest, ReportsTheFatalWords) {
  CaffeProcess process = Shell(
      "echo 'F1115 22:57:49.957798 28018 net.cpp:1] Check failed: a == b (1 vs. 2)'; echo '*** "
      "Check failure stack trace: ***'; kill -ABRT $$");
  const Status status = process.Finish();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kFailed);
  EXPECT_THAT(status.error().message, HasSubstr("SIGABRT"));
  EXPECT_THAT(status.error().message, HasSubstr("Check failed: a == b (1 vs. 2)"));
}

TEST(CaffeProcessTest, KnowsWantOfMemoryAndALayerThatIsMissing) {
  const auto kind = [](const std::string& words) {
    CaffeProcess process = Shell("echo \"" + words + "\"; exit 1");
    return process.Finish().error().kind;
  };
  EXPECT_EQ(kind("terminate called after throwing an instance of 'std::bad_alloc'"),
            ErrorKind::kOutOfMemory);
  EXPECT_EQ(
      kind("F1115 22:57:49.957798 1 a.hpp:1] Check failed: *ptr host allocation of size 9 failed"),
      ErrorKind::kOutOfMemory);
  EXPECT_EQ(kind("F1115 22:57:49.957798 1 a.hpp:1] Unknown layer type: HDF5Data (known types: A)"),
            ErrorKind::kUnsupported);
  EXPECT_EQ(kind("something else"), ErrorKind::kFailed);
  CaffeProcess killed = Shell("kill -KILL $$");
  EXPECT_EQ(killed.Finish().error().kind, ErrorKind::kOutOfMemory);
}

TEST(CaffeProcessTest, FailsWhereTheLogEndsBeforeTheLineThatIsWaitedFor) {
  CaffeProcess process = Shell("echo something");
  EXPECT_THAT(process.ReadUntil("Starting").error().message, HasSubstr("something"));
  EXPECT_FALSE(CaffeProcess::Start("/nowhere/caffe", {}, "/tmp", 1).ok());
}

}  // namespace
}  // namespace tench::caffe_worker::process_test
