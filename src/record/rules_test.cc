// SPDX-License-Identifier: Apache-2.0
#include "record/rules.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace tench::rules_test {
namespace {

// The versions that the changelog of rules lists: its lines "- **rules N**: …", in order.
std::vector<int64_t> ListedVersions() {
  std::ifstream document(std::string(TENCH_SOURCE_DIR) + "/docs/methodology.md");
  std::vector<int64_t> versions;
  const std::string begin = "- **rules ";
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with(begin)) versions.push_back(std::stoll(line.substr(begin.size())));
  }
  return versions;
}

TEST(RulesTest, TheMethodologyHasOneLinePerVersion) {
  std::vector<int64_t> expected;
  for (int64_t version = 1; version <= kRules; ++version) expected.push_back(version);
  EXPECT_EQ(ListedVersions(), expected);
}

}  // namespace
}  // namespace tench::rules_test
