// SPDX-License-Identifier: Apache-2.0
#include "run/session/worker_environment.h"

#include <gtest/gtest.h>

#include <map>

namespace tench::worker_environment_test {
namespace {

std::map<std::string, std::string> Given(const std::vector<std::string>& ours,
                                         const std::vector<int>& cpus) {
  const Environment environment = WorkerEnvironment(ours, cpus);
  return {environment.begin(), environment.end()};
}

TEST(WorkerEnvironmentTest, LetsOnlyAShortListThrough) {
  const auto given =
      Given({"PATH=/bin", "HOME=/root", "TENCH_X=1", "OMP_PROC_BIND=true", "MKL_NUM_THREADS=99",
             "TF_CPP_MIN_LOG_LEVEL=0", "LD_PRELOAD=/evil.so", "broken", "LD_LIBRARY_PATH=/opt/a=b"},
            {0, 2});
  EXPECT_EQ(given.at("PATH"), "/bin");
  EXPECT_EQ(given.at("HOME"), "/root");
  EXPECT_EQ(given.at("TENCH_X"), "1");
  EXPECT_EQ(given.at("LD_LIBRARY_PATH"), "/opt/a=b");
  for (const char* name : {"OMP_PROC_BIND", "TF_CPP_MIN_LOG_LEVEL", "LD_PRELOAD", "broken"})
    EXPECT_FALSE(given.contains(name)) << name;
}

TEST(WorkerEnvironmentTest, TellsEveryRuntimeTheNumberOfThreads) {
  const auto given = Given({"MKL_NUM_THREADS=99"}, {0, 2});
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"})
    EXPECT_EQ(given.at(name), "2") << name;
  EXPECT_EQ(given.at("TENCH_CPUS"), "0,2");
  EXPECT_EQ(given.at("LANG"), "C.UTF-8");
}

TEST(WorkerEnvironmentTest, TheCpusOfALoaderAddNoComputeThread) {
  const Environment environment = WorkerEnvironment({}, {0, 1, 2}, "", {}, 2);
  const std::map<std::string, std::string> given(environment.begin(), environment.end());
  EXPECT_EQ(given.at("OMP_NUM_THREADS"), "2");
  EXPECT_EQ(given.at("TENCH_CPUS"), "0-2");
}

TEST(WorkerEnvironmentTest, NamesTheVersionThatTheCellAsksFor) {
  EXPECT_FALSE(Given({"PATH=/bin"}, {0}).contains("TENCH_WORKER_VERSION"));
  const Environment named = WorkerEnvironment({"TENCH_WORKER_VERSION=1.0"}, {0}, "2.15");
  EXPECT_EQ(
      (std::map<std::string, std::string>(named.begin(), named.end()).at("TENCH_WORKER_VERSION")),
      "2.15");
}

TEST(WorkerEnvironmentTest, TheVariablesOfTheCellReplaceAllOthers) {
  const Environment environment = WorkerEnvironment(
      {"PATH=/bin", "LD_PRELOAD=/evil.so"}, {0}, "",
      {{"LD_PRELOAD", "/jemalloc.so"}, {"OMP_DYNAMIC", "TRUE"}, {"PATH", "/opt"}});
  const std::map<std::string, std::string> given(environment.begin(), environment.end());
  EXPECT_EQ(given.at("LD_PRELOAD"), "/jemalloc.so");
  EXPECT_EQ(given.at("OMP_DYNAMIC"), "TRUE");
  EXPECT_EQ(given.at("PATH"), "/opt");
  EXPECT_EQ(environment.size(), given.size());
}

TEST(WorkerEnvironmentTest, TheCacheFolderReachesTheWorkerAndDecidesNothing) {
  EXPECT_EQ(Given({"XDG_CACHE_HOME=/c"}, {0}).at("XDG_CACHE_HOME"), "/c");
  EXPECT_TRUE(DecisiveEnvironment({"XDG_CACHE_HOME=/c"}, "torch").empty());
}

TEST(WorkerEnvironmentTest, SaysNothingOfThreadsWithoutCpus) {
  EXPECT_FALSE(Given({}, {}).contains("OMP_NUM_THREADS"));
}

TEST(WorkerEnvironmentTest, TheDecisivePartSelectsTheWorkerAndItsLibraries) {
  const Environment decisive = DecisiveEnvironment(
      {"PATH=/bin", "HOME=/root", "LD_LIBRARY_PATH=/opt/lib", "PYTHONPATH=", "OMP_NUM_THREADS=9",
       "TENCH_CAFFE=/a/caffe", "TENCH_CAFFE_INTEL=/b/caffe", "TENCH_CAFFEINE=1",
       "TENCH_MXNET_LIBRARY=/c", "TENCH_WORKER_PATH=/w"},
      "caffe");
  EXPECT_EQ(decisive, (Environment{{"LD_LIBRARY_PATH", "/opt/lib"},
                                   {"TENCH_CAFFE", "/a/caffe"},
                                   {"TENCH_CAFFE_INTEL", "/b/caffe"},
                                   {"TENCH_WORKER_PATH", "/w"}}));
}

TEST(WorkerEnvironmentTest, ASuitesWorkersBecomeVariablesThatReproduceARun) {
  const std::vector<WorkerFile> table = {{"caffe@nv-0.17", "/n/caffe", {}},
                                         {"nightly", "/b/tench-worker-torch", {}}};
  const Environment variables = *TableEnvironment(table, "/w");
  EXPECT_EQ(variables, (Environment{{"TENCH_CAFFE_NV_0_17", "/n/caffe"},
                                    {"TENCH_WORKER_PATH", "nightly=/b/tench-worker-torch:/w"}}));
  std::vector<std::string> ours;
  for (const auto& [name, value] : variables) ours.push_back(name + "=" + value);
  EXPECT_EQ(DecisiveEnvironment(ours, "caffe"), variables);
  EXPECT_EQ((*TableEnvironment({}, "/w")), Environment());
  EXPECT_FALSE(TableEnvironment(std::vector<WorkerFile>{{"a", "/b:c", {}}}, "").ok());
}

TEST(WorkerEnvironmentTest, IsStoredAsOneObject) {
  EXPECT_EQ(EnvironmentToJson({{"A", "1"}, {"B", "\xff"}}), "{\"A\":\"1\",\"B\":\"\ufffd\"}");
}

}  // namespace
}  // namespace tench::worker_environment_test
