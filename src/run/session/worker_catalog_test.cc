// SPDX-License-Identifier: Apache-2.0
#include "run/session/worker_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "run/session/test_worker.h"

namespace tench::worker_catalog_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

void MakeFile(const fs::path& path, const std::string& text, bool executable) {
  std::ofstream(path) << text;
  fs::permissions(
      path, executable ? fs::perms::owner_all : fs::perms::owner_read | fs::perms::owner_write);
}

class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

class WorkerCatalogTest : public testing::Test {
 protected:
  const TemporaryFolder first_ = *TemporaryFolder::Make("tench-test-");
  const TemporaryFolder second_ = *TemporaryFolder::Make("tench-test-");
};

TEST_F(WorkerCatalogTest, FindsExecutablesByNameAndTheFirstFolderWins) {
  MakeFile(first_.path() / "tench-worker-b", "", true);
  MakeFile(second_.path() / "tench-worker-b", "", true);
  MakeFile(second_.path() / "tench-worker-a", "", true);
  MakeFile(second_.path() / "tench-worker-text", "", false);
  MakeFile(second_.path() / "tench-worker-", "", true);
  MakeFile(second_.path() / "other", "", true);
  const WorkerCatalog catalog =
      WorkerCatalog::Discover({first_.path(), "/nonexistent", second_.path()});
  EXPECT_THAT(catalog.names(), ElementsAre("a", "b"));
  EXPECT_EQ((*catalog.Find("b"))->executable, first_.path() / "tench-worker-b");
}

TEST_F(WorkerCatalogTest, AnElementWithANameIsOneExecutable) {
  MakeFile(first_.path() / "tench-worker-b", "", true);
  MakeFile(second_.path() / "tench-worker-b", "", true);
  const std::string file = (second_.path() / "tench-worker-b").string();
  const WorkerCatalog catalog =
      WorkerCatalog::Discover({"nightly=" + file, "gone=/none/worker", first_.path()});
  EXPECT_THAT(catalog.names(), ElementsAre("b", "gone", "nightly"));
  EXPECT_EQ((*catalog.Find("nightly"))->executable, file);
  EXPECT_EQ((*catalog.Find("b"))->executable, first_.path() / "tench-worker-b");
  EXPECT_THAT((*catalog.Find("gone"))->NotInstalled(), HasSubstr("needs the executable /none/wor"));
}

TEST_F(WorkerCatalogTest, AManifestAloneIsAWorkerThatIsNotInstalled) {
  MakeFile(first_.path() / "tench-worker-x.json",
           R"({"name":"x","title":"X","needs":"libx","install":"apt install x"})", false);
  WorkerCatalog catalog = WorkerCatalog::Discover({first_.path()});
  const WorkerEntry* entry = *catalog.Find("x");
  EXPECT_FALSE(entry->installed());
  EXPECT_EQ(entry->title, "X");
  EXPECT_EQ(entry->needs, "libx");
  EXPECT_EQ(entry->install, "apt install x");
  EXPECT_FALSE(catalog.Describe(*entry));
}

TEST_F(WorkerCatalogTest, AManifestOfAnotherFolderBelongsToTheExecutable) {
  MakeFile(first_.path() / "tench-worker-x", "", true);
  MakeFile(second_.path() / "tench-worker-x.json", R"({"title":"X"})", false);
  const WorkerCatalog catalog = WorkerCatalog::Discover({first_.path(), second_.path()});
  EXPECT_TRUE((*catalog.Find("x"))->installed());
  EXPECT_EQ((*catalog.Find("x"))->title, "X");
}

TEST_F(WorkerCatalogTest, ABrokenManifestSaysSo) {
  MakeFile(first_.path() / "tench-worker-x.json", "{", false);
  const WorkerCatalog catalog = WorkerCatalog::Discover({first_.path()});
  EXPECT_THAT((*catalog.Find("x"))->needs, HasSubstr("tench-worker-x.json"));
}

TEST_F(WorkerCatalogTest, AnUnknownNameIsAnErrorWithTheNearest) {
  MakeFile(first_.path() / "tench-worker-torch", "", true);
  const auto found = WorkerCatalog::Discover({first_.path()}).Find("troch");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("torch"));
}

TEST_F(WorkerCatalogTest, TheEnvironmentsFoldersComeFirst) {
  MakeFile(first_.path() / "tench-worker-zz", "", true);
  MakeFile(second_.path() / "tench-worker-zz", "", true);
  const Variable path("TENCH_WORKER_PATH", first_.path().string() + "::" + second_.path().string());
  const WorkerCatalog catalog = WorkerCatalog::Discover();
  ASSERT_TRUE(catalog.Find("zz"));
  EXPECT_EQ((*catalog.Find("zz"))->executable, first_.path() / "tench-worker-zz");
}

TEST(WorkerNameTest, MayAskForAVersion) {
  EXPECT_EQ(WorkerName::Of("torch").name, "torch");
  EXPECT_EQ(WorkerName::Of("torch").version, "");
  EXPECT_EQ(WorkerName::Of("tensorflow@2.15").name, "tensorflow");
  EXPECT_EQ(WorkerName::Of("tensorflow@2.15").version, "2.15");
}

TEST(WorkerNameTest, AVersionMeansItselfAndThoseOfItsLine) {
  for (const char* installed : {"2.3", "2.3.1", "2.3+cpu"})
    EXPECT_TRUE(IsVersion("2.3", installed)) << installed;
  for (const char* installed : {"2.30", "2", "12.3"})
    EXPECT_FALSE(IsVersion("2.3", installed)) << installed;
  EXPECT_TRUE(IsVersion("", "anything"));
}

TEST(WorkerDescriptionTest, AsksTheExecutableAndIgnoresItsChatter) {
  TestWorkers workers;
  const Variable how("TENCH_FAKE_DESCRIBE", "chatter");
  const auto description = workers.catalog().Describe(**workers.catalog().Find("fake"));
  ASSERT_TRUE(description) << description.error().message;
  EXPECT_EQ(description->name, "fake");
  EXPECT_EQ(description->version, "1.2.3");
}

TEST(WorkerDescriptionTest, RemembersTheAnswer) {
  TestWorkers workers;
  const WorkerEntry* entry = *workers.catalog().Find("fake");
  EXPECT_TRUE(workers.catalog().Describe(*entry));
  const Variable how("TENCH_FAKE_DESCRIBE", "crash");
  EXPECT_TRUE(workers.catalog().Describe(*entry));
}

TEST(WorkerDescriptionTest, ACrashIsAnErrorWithItsLastLine) {
  TestWorkers workers;
  const Variable how("TENCH_FAKE_DESCRIBE", "crash");
  const auto description = workers.catalog().Describe(**workers.catalog().Find("fake"));
  ASSERT_FALSE(description);
  EXPECT_THAT(description.error().message,
              HasSubstr("exit code 1: ImportError: no module named fake"));
}

TEST(WorkerDescriptionTest, GarbageIsAnErrorThatNamesTheProgram) {
  TestWorkers workers;
  const Variable how("TENCH_FAKE_DESCRIBE", "garbage");
  const auto description = workers.catalog().Describe(**workers.catalog().Find("fake"));
  ASSERT_FALSE(description);
  EXPECT_THAT(description.error().message, HasSubstr("tench-worker-fake"));
}

}  // namespace
}  // namespace tench::worker_catalog_test
