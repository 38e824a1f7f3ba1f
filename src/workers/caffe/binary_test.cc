// SPDX-License-Identifier: Apache-2.0
#include "workers/caffe/binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "base/file.h"
#include "workers/caffe/adapter.h"

namespace tench::caffe_worker::binary_test {
namespace {

using testing::HasSubstr;

class BinaryTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"TENCH_WORKER_VERSION", "TENCH_CAFFE_NV_0_17", "TENCH_CAFFE_INTEL"})
      unsetenv(name);
  }
  // A program that only answers --version.
  std::string Program(const std::string& name, const std::string& version) {
    const std::filesystem::path path = folder_.path() / name;
    std::ofstream(path) << "#!/bin/sh\necho caffe version " << version << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
  }

  TemporaryFolder folder_ = *TemporaryFolder::Make("tench-test-");
};

TEST_F(BinaryTest, ANameSelectsAmongSeveralBuilds) {
  const std::string intel = Program("a", "1.1.0"), nvidia = Program("b", "0.17.3");
  setenv("TENCH_CAFFE_INTEL", intel.c_str(), 1);
  setenv("TENCH_CAFFE_NV_0_17", nvidia.c_str(), 1);
  setenv("TENCH_WORKER_VERSION", "intel", 1);
  EXPECT_EQ(FindBinary()->string(), intel);
  EXPECT_EQ(MakeCaffeAdapter()->Describe().version, "intel-1.1.0");
  setenv("TENCH_WORKER_VERSION", "nv-0.17", 1);
  EXPECT_EQ(FindBinary()->string(), nvidia);
  EXPECT_EQ(MakeCaffeAdapter()->Describe().version, "nv-0.17-0.17.3");
}

TEST_F(BinaryTest, AnUnsetNameSaysWhichVariableToSet) {
  setenv("TENCH_WORKER_VERSION", "intel", 1);
  const auto missing = FindBinary();
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kUnsupported);
  EXPECT_THAT(missing.error().message, HasSubstr("set TENCH_CAFFE_INTEL to the path"));
  setenv("TENCH_CAFFE_INTEL", "/nowhere", 1);
  EXPECT_THAT(FindBinary().error().message, HasSubstr("'/nowhere', which is not an executable"));
}

TEST_F(BinaryTest, ANumberIsAVersionAndNoName) {
  setenv("TENCH_WORKER_VERSION", "1.0", 1);
  EXPECT_EQ(BinaryName(), "");
}

}  // namespace
}  // namespace tench::caffe_worker::binary_test
