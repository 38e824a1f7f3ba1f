// SPDX-License-Identifier: Apache-2.0
#include "plan/suite_path.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"

namespace tench::suite_path_test {
namespace {

TEST(SuitePathTest, AFileBesideTheSuiteIsFoundFromAnyFolder) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-test-");
  std::filesystem::create_directory(folder.path() / "nets");
  std::ofstream(folder.path() / "nets" / "own.json") << "{}";
  std::ofstream(folder.path() / "s.yaml")
      << "worker: torch\nnetwork: [lenet, nets/own.json, nets/none.json]\n"
         "exclude:\n  - {network: nets/own.json}\n";
  const Result<Suite> suite = LoadSuite((folder.path() / "s.yaml").string(), {});
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  const std::string found = (folder.path() / "nets" / "own.json").string();
  for (const AxisList& list : suite->blocks[0].axes) {
    if (list.name != "network") continue;
    EXPECT_EQ(list.values, (std::vector<std::string>{"lenet", found, "nets/none.json"}));
  }
  EXPECT_EQ(suite->blocks[0].exclude[0].axes[0].values[0], found);
  // The study is resumed from any folder: the fingerprint has the path as it is written.
  const std::string text = *ReadFile(folder.path() / "s.yaml");
  EXPECT_EQ(suite->fingerprint, ParseSuite(text, "s.yaml")->fingerprint);
}

TEST(SuitePathTest, DataBesideTheSuiteIsFoundWithItsMeanFile) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-test-");
  std::filesystem::create_directory(folder.path() / "my, photos");
  std::ofstream(folder.path() / "mean.binaryproto") << "";
  std::ofstream(folder.path() / "s.yaml")
      << "worker: torch\nnetwork: lenet\ndata:\n  - mnist\n"
         "  - 'folder:my, photos,resize=32,mean_file=mean.binaryproto'\n"
         "  - 'folder:/abs/photos,resize=32'\n  - 'lmdb:none'\n";
  const Result<Suite> suite = LoadSuite((folder.path() / "s.yaml").string(), {});
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  const std::string at = folder.path().string();
  for (const AxisList& list : suite->blocks[0].axes) {
    if (list.name != "data") continue;
    EXPECT_EQ(
        list.values,
        (std::vector<std::string>{
            "mnist", "folder:" + at + "/my, photos,resize=32,mean_file=" + at + "/mean.binaryproto",
            "folder:/abs/photos,resize=32", "lmdb:none"}));
  }
}

}  // namespace
}  // namespace tench::suite_path_test
