// SPDX-License-Identifier: Apache-2.0
#include "cli/python_flag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace tench::python_flag_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// snake is a worker in Python that only the environment `full` has the framework of.
class PythonFlagTest : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("TENCH_PYTHON");
    Write("share/tench/python-workers/snake.py", "");
    Write("bin/tench-worker-snake",
          R"(#!/bin/sh
[ "$TENCH_WORKER_VERSION" = empty ] && missing=',"facts":{"missing":"no snake"}'
worker='{"protocol":1,"name":"snake","version":"1","ops":[],"devices":["cpu"],"precisions":["f32"]'
[ $1 = --describe ] && { echo "$worker$missing}"; exit 0; }
if [ "$TENCH_WORKER_VERSION" = broken ]; then
  echo '{"type":"error","kind":"failed","message":"no venom; to install it again: pip"}' >&3
else
  echo "{\"type\":\"hello\",\"worker\":$worker}}" >&3
fi
)");
    Write("bin/tench-worker-other", "#!/bin/sh\n");
    for (const char* name : {"full", "empty", "broken"}) {
      Write(fs::path(name) / "pyvenv.cfg", "");
      Write(fs::path(name) / "bin/python", "#!/bin/sh\necho python 3.12.1\necho numpy 2.0\n");
    }
    catalog_ = WorkerCatalog::Discover({folder_.path() / "bin"});
  }
  void TearDown() override {
    for (const char* name : {"FULL", "EMPTY", "BROKEN", "A"})
      unsetenv((std::string("TENCH_SNAKE_") + name).c_str());
    unsetenv("TENCH_PYTHON");
  }
  void Write(const fs::path& path, const std::string& text) {
    const fs::path file = folder_.path() / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
    fs::permissions(file, fs::perms::owner_all);
  }
  std::string Path(const char* name) const { return (folder_.path() / name).string(); }
  // The flag as a command line gives it.
  static PythonFlag Flag(const std::vector<std::string>& values) {
    PythonFlag flag;
    CLI::App app;
    flag.AddTo(app);
    std::vector<std::string> words;
    for (const std::string& value : values) words.insert(words.begin(), {value, "--python"});
    app.parse(words);
    return flag;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Make("tench-test-");
  WorkerCatalog catalog_;
};

TEST_F(PythonFlagTest, EachEnvironmentIsARowOfItsOwn) {
  const auto environments = *Flag({Path("full"), Path("empty")}).Use(catalog_);
  EXPECT_THAT(NamesOf(environments), ElementsAre("full", "empty"));
  EXPECT_THAT(InEnvironments("snake", catalog_, environments),
              ElementsAre("snake@full", "snake@empty"));
  EXPECT_THAT(InEnvironments("other", catalog_, environments), ElementsAre("other"));
  EXPECT_THAT(InEnvironments("snake@1.0", catalog_, environments), ElementsAre("snake@1.0"));
  EXPECT_THAT(FrameworksOf(catalog_, environments).workers, ElementsAre("snake@full"));
  EXPECT_TRUE(CheckFramework("snake@full", catalog_, environments).ok());
  EXPECT_THAT(CheckFramework("snake@empty", catalog_, environments).error().message,
              HasSubstr("snake@empty: no snake"));
}

TEST_F(PythonFlagTest, AFrameworkThatDoesNotLoadIsNamedWithTheReason) {
  const auto environments = *Flag({Path("broken"), Path("full")}).Use(catalog_);
  const char* reason = "snake@broken: it does not load: no venom; to install it again: pip";
  EXPECT_EQ(CheckFramework("snake@broken", catalog_, environments).error().message, reason);
  EXPECT_TRUE(CheckFramework("snake@full", catalog_, environments).ok());
  const EnvironmentFrameworks found = FrameworksOf(catalog_, environments);
  EXPECT_THAT(found.workers, ElementsAre("snake@full"));
  EXPECT_THAT(found.left_out, ElementsAre(reason));
}

TEST_F(PythonFlagTest, TheVariableIsTheDefaultAndTheFlagWins) {
  EXPECT_THAT(*Flag({}).Use(catalog_), IsEmpty());
  setenv("TENCH_PYTHON", Path("full").c_str(), 1);
  EXPECT_THAT(NamesOf(*Flag({}).Use(catalog_)), ElementsAre("full"));
  EXPECT_THAT(NamesOf(*Flag({Path("empty")}).Use(catalog_)), ElementsAre("empty"));
}

TEST_F(PythonFlagTest, ASuitesEnvironmentsReplaceTheVariableAndAFlagJoinsThem) {
  setenv("TENCH_PYTHON", Path("full").c_str(), 1);
  const std::vector<PythonPath> suite = {{"a", Path("empty"), {2, 5}}};
  EXPECT_THAT(NamesOf(*Flag({}).Use(catalog_, suite, "s.yaml")), ElementsAre("a"));
  EXPECT_THAT(NamesOf(*Flag({Path("full")}).Use(catalog_, suite, "s.yaml")),
              ElementsAre("a", "full"));
  const auto replaced = *Flag({"a=" + Path("full")}).Use(catalog_, suite, "s.yaml");
  ASSERT_EQ(replaced.size(), 1u);
  EXPECT_EQ(replaced[0].interpreter.string(), Path("full") + "/bin/python");
  const std::vector<PythonPath> gone = {{"a", "/gone", {2, 5}}};
  EXPECT_THAT(Flag({}).Use(catalog_, gone, "s.yaml").error().message,
              HasSubstr("s.yaml:2:5: python: '/gone' is no Python"));
}

TEST_F(PythonFlagTest, OneRunHasOneEnvironmentWithTheFramework) {
  EXPECT_EQ(*OneInEnvironment("snake", catalog_, Flag({Path("full")})), "snake@full");
  EXPECT_EQ(*OneInEnvironment("snake", catalog_, Flag({})), "snake");
  EXPECT_EQ(*OneInEnvironment("other", catalog_, Flag({})), "other");
  const auto error = [&](const std::string& worker, const PythonFlag& flag) {
    return OneInEnvironment(worker, catalog_, flag).error().message;
  };
  EXPECT_THAT(error("other", Flag({Path("full")})), HasSubstr("these do: snake"));
  EXPECT_THAT(error("snake", Flag({Path("full"), Path("empty")})), HasSubstr("tench sweep"));
  EXPECT_THAT(error("snake@2", Flag({Path("full")})), HasSubstr("write --worker snake"));
  EXPECT_THAT(error("snake", Flag({Path("empty")})), HasSubstr("no snake"));
}

}  // namespace
}  // namespace tench::python_flag_test
