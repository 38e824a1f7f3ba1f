// SPDX-License-Identifier: Apache-2.0
#include "worker/early_option.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/file.h"

namespace tench::early_option_test {
namespace {

class EarlyOptionTest : public testing::Test {
 protected:
  std::string Look(const std::string& job) {
    const std::string file = (folder_.path() / "job.json").string();
    EXPECT_TRUE(WriteFileAtomically(file, job).ok());
    return LookIn(file);
  }
  static std::string LookIn(std::string file) {
    std::string worker = "tench-worker-x", flag = "--job";
    std::vector<char*> arguments = {worker.data(), flag.data(), file.data()};
    return EarlyOption(static_cast<int>(arguments.size()), arguments.data(), "engine", "usual");
  }
  TemporaryFolder folder_ = *TemporaryFolder::Make("tench-early-");
};

TEST_F(EarlyOptionTest, FindsTheOptionOfAJob) {
  EXPECT_EQ(Look(R"({"options": {"engine": "fast"}})"), "fast");
}

TEST_F(EarlyOptionTest, LeavesWhatIsWrongToThoseWhoReadTheJob) {
  for (const std::string job : {"{}", "[", "[]", R"({"options": 3})",
                                R"({"options": {"engine": 3}})", R"({"options": {"other": "x"}})"})
    EXPECT_EQ(Look(job), "usual") << job;
  EXPECT_EQ(LookIn("/no/such/file"), "usual");
  EXPECT_EQ(LookIn("-"), "usual");
}

}  // namespace
}  // namespace tench::early_option_test
