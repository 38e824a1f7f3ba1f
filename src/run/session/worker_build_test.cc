// SPDX-License-Identifier: Apache-2.0
#include "run/session/worker_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "base/file.h"
#include "run/session/loaded_files.h"

namespace tench::worker_build_test {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Variable {
 public:
  Variable(const char* name, const fs::path& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

class WorkerBuildTest : public testing::Test {
 protected:
  WorkerBuildTest() { PutWorker(folder_.path()); }

  static fs::path PutWorker(const fs::path& folder) {
    const fs::path worker = folder / "tench-worker-fake";
    fs::copy_file(fs::path(TENCH_SOURCE_DIR) / "tests" / "e2e" / "fake_worker.py", worker);
    fs::permissions(worker, fs::perms::owner_all);
    return worker;
  }
  fs::path worker() const { return folder_.path() / "tench-worker-fake"; }
  static void Append(const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::app) << text;
  }

  // As a new tench process identifies it.
  WorkerBuild Identify() const { return Identify(folder_.path()); }
  static WorkerBuild Identify(const fs::path& folder) {
    WorkerCatalog catalog = WorkerCatalog::Discover({folder});
    const auto build = catalog.Build(**catalog.Find("fake"));
    Check(build.ok(), build.ok() ? "" : build.error().message);
    return **build;
  }
  static std::vector<std::string> Names(const WorkerBuild& build) {
    std::vector<std::string> names;
    for (const HashedFile& file : build.files) names.push_back(file.path.filename().string());
    return names;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Make("tench-build-");
  const Variable cache_{"XDG_CACHE_HOME", folder_.path() / "cache"};
};

TEST_F(WorkerBuildTest, StaysTheSameWhileItsFilesDo) {
  const WorkerBuild first = Identify();
  EXPECT_THAT(first.id, testing::MatchesRegex("[0-9a-f]{16}"));
  EXPECT_EQ(Identify().id, first.id);
}

TEST_F(WorkerBuildTest, OfAScriptItIsTheScriptItsInterpreterAndWhatThatLoads) {
  const std::vector<std::string> names = Names(Identify());
  EXPECT_THAT(names, Contains("tench-worker-fake"));
  EXPECT_THAT(names, Contains(HasSubstr("python3")));
  EXPECT_THAT(names, Not(Contains(testing::StartsWith("libc.so"))));
}

TEST_F(WorkerBuildTest, AnotherExecutableIsAnotherBuild) {
  const std::string before = Identify().id;
  Append(worker(), "# a change\n");
  EXPECT_NE(Identify().id, before);
}

TEST_F(WorkerBuildTest, AnotherTimeAloneIsTheSameBuild) {
  const std::string before = Identify().id;
  fs::last_write_time(worker(), fs::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_EQ(Identify().id, before);
}

TEST_F(WorkerBuildTest, AnotherLibraryThatItLoadsAtRunTimeIsAnotherBuild) {
  const std::string without = Identify().id;
  const fs::path library = folder_.path() / "libpayload.so";
  fs::copy_file(TENCH_PAYLOAD, library);
  const Variable loads("TENCH_FAKE_LIBRARY", library);
  const WorkerBuild before = Identify();
  EXPECT_NE(before.id, without);
  EXPECT_THAT(Names(before), Contains("libpayload.so"));
  Append(library, "x");
  EXPECT_NE(Identify().id, before.id);
}

TEST_F(WorkerBuildTest, AProgramThatItStartsBelongsToIt) {
  const fs::path program = folder_.path() / "caffe";
  fs::copy_file("/bin/sleep", program);
  const Variable starts("TENCH_FAKE_PROGRAM", program);
  const WorkerBuild before = Identify();
  EXPECT_THAT(Names(before), Contains("caffe"));
  Append(program, "x");
  EXPECT_NE(Identify().id, before.id);
}

TEST_F(WorkerBuildTest, MovedToAnotherFolderItIsTheSameBuild) {
  const fs::path other = folder_.path() / "elsewhere";
  fs::create_directory(other);
  PutWorker(other);
  EXPECT_EQ(Identify(other).id, Identify().id);
}

TEST_F(WorkerBuildTest, OfAWorkerThatMakesNoStepItIsTheExecutableAlone) {
  for (const char* behaviour : {"exit3", "unsupported", "garbage", "half_line"}) {
    const Variable how("TENCH_FAKE_BEHAVIOUR", behaviour);
    const WorkerBuild build = Identify();
    EXPECT_THAT(Names(build), ElementsAre("tench-worker-fake")) << behaviour;
    EXPECT_FALSE(build.id.empty());
  }
}

// Its process may have exited before its map is read, so none of its files count.
TEST_F(WorkerBuildTest, OfAWorkerThatEndsBeforeItsStepsAreMadeItIsTheExecutableAlone) {
  std::ofstream(worker()) << R"(#!/bin/sh
cat >&3 <<'END'
{"type":"hello","worker":{"protocol":1,"name":"fake","version":"1","ops":[],"devices":["cpu"],"precisions":["f32"]}}
{"type":"build","build_ns":1}
{"type":"steps","first":0,"warmup":true,"step_ns":[5],"loss":[3]}
{"type":"result","converged":true}
END
)";
  for (int i = 0; i < 5; ++i) EXPECT_THAT(Names(Identify()), ElementsAre("tench-worker-fake"));
}

TEST_F(WorkerBuildTest, ALinkToAWorkerIsThatWorker) {
  const fs::path links = folder_.path() / "links";
  fs::create_directory(links);
  fs::create_symlink(worker(), links / "tench-worker-fake");
  EXPECT_EQ(Identify(links).id, Identify().id);
}

TEST_F(WorkerBuildTest, NoticesThatOneOfItsFilesChanged) {
  const WorkerBuild build = Identify();
  EXPECT_TRUE(build.Unchanged());
  Append(worker(), "# a change\n");
  EXPECT_FALSE(build.Unchanged());
  fs::remove(worker());
  EXPECT_FALSE(build.Unchanged());
}

TEST_F(WorkerBuildTest, IsFoundOnceByACatalogAndNotAfterAStop) {
  WorkerCatalog catalog = WorkerCatalog::Discover({folder_.path()});
  const WorkerEntry& entry = **catalog.Find("fake");
  StopSource stop;
  stop.RequestStop();
  EXPECT_FALSE(catalog.Build(entry, "", stop.token()).ok());
  const auto first = catalog.Build(entry);
  ASSERT_TRUE(first.ok()) << first.error().message;
  Append(worker(), "# a change\n");
  EXPECT_EQ(*catalog.Build(entry), *first) << "a study has one build per worker";
}

TEST_F(WorkerBuildTest, AWorkerThatIsNotInstalledHasNone) {
  WorkerCatalog catalog;
  WorkerEntry entry;
  entry.name = "absent";
  EXPECT_FALSE(catalog.Build(entry).ok());
}

TEST(BuildIdTest, DependsOnNamesAndContentsAlone) {
  const HashedFile a{"/lib/liba.so", {1, 1}, "0000000000000001"};
  const HashedFile b{"/lib/libb.so", {1, 1}, "0000000000000002"};
  const std::string id = BuildId({a, b});
  EXPECT_EQ(BuildId({b, a}), id);
  EXPECT_EQ(BuildId({a, {"/opt/libb.so", {2, 2}, b.hash}}), id);
  EXPECT_NE(BuildId({a, {"/lib/libb2.so", {1, 1}, b.hash}}), id);
  EXPECT_NE(BuildId({a, {"/lib/libb.so", {1, 1}, a.hash}}), id);
  EXPECT_NE(BuildId({a}), id);
}

TEST(BuildIdTest, DependsOnThePackagesOfAnEnvironment) {
  const std::vector<HashedFile> files;
  EXPECT_EQ(BuildId(files), BuildId(files, ""));
  EXPECT_NE(BuildId(files, "jax 0.10.2, numpy 2.4.6"), BuildId(files, "jax 0.10.1, numpy 2.4.6"));
}

}  // namespace
}  // namespace tench::worker_build_test
