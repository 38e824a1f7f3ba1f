// SPDX-License-Identifier: Apache-2.0
#include "profile/blas_census.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"

namespace tench::blas_census_test {
namespace {

using testing::HasSubstr;

// Runs a program that makes known calls, with the recorder, and reads its file.
std::vector<BlasCall> Record(const std::string& program, const std::string& argument = "") {
  const TemporaryFolder folder = *TemporaryFolder::Make("blas-census-test");
  const std::string command =
      fmt::format("LD_PRELOAD={} {}={} {} {}", ShellQuote(TENCH_BLAS_RECORDER), kBlasCensusVariable,
                  ShellQuote(folder.path().string()), ShellQuote(program), argument);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::vector<BlasCall> calls;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().extension() != ".tsv") continue;
    const auto read = ParseBlasCalls(*ReadFile(entry.path()), entry.path().string());
    EXPECT_TRUE(read.ok()) << read.error().message;
    if (read.ok()) calls.insert(calls.end(), read->begin(), read->end());
  }
  return calls;
}

void ExpectKnownCalls(const std::vector<BlasCall>& calls) {
  const GemmTable table = CountGemms(calls);
  EXPECT_EQ(table.nn.calls, 3);
  EXPECT_EQ(table.nt.calls, 2);
  EXPECT_EQ(table.tn.calls, 1);
  EXPECT_EQ(table.tt.calls, 0);
  EXPECT_EQ(table.bias.calls, 4);
  EXPECT_EQ(table.gemv.calls, 2);
  EXPECT_EQ(table.vector.calls, 5);
  EXPECT_GT(table.nn.time_ns, 0);
}

// The stand-in's C interface calls its Fortran one: an inner call must not count.
TEST(BlasCensusTest, RecordsEveryOutermostCall) { ExpectKnownCalls(Record(TENCH_BLAS_CALLER)); }

TEST(BlasCensusTest, RecordsTheCallsOfDebiansOpenBlas) {
  if (std::string_view(TENCH_OPENBLAS_CALLER).empty())
    GTEST_SKIP() << "libopenblas.so.0 was not found: apt-get install libopenblas0-pthread";
  ExpectKnownCalls(Record(TENCH_OPENBLAS_CALLER));
}

TEST(BlasCensusTest, AProcessThatLeavesWithoutDestructorsIsRecorded) {
  ExpectKnownCalls(Record(TENCH_BLAS_CALLER, "--leave"));
}

TEST(BlasCensusTest, KeepsOrderTransposesAndSizes) {
  bool found = false;
  for (const BlasCall& call : Record(TENCH_BLAS_CALLER)) {
    if (call.function != "cblas_sgemm" || call.trans_b != 't') continue;
    found = true;
    EXPECT_EQ(call.order, 'R');
    EXPECT_EQ(call.trans_a, 'n');
    EXPECT_EQ(call.k, 2);
    EXPECT_EQ(call.calls, 2);
  }
  EXPECT_TRUE(found);
}

TEST(BlasCensusTest, ADamagedLineIsAnErrorWithItsNumber) {
  const std::string good = "sgemm_\tC\tn\tt\t1\t2\t3\t4\t5\n";
  EXPECT_EQ(ParseBlasCalls(good, "f")->at(0), (BlasCall{"sgemm_", 'C', 'n', 't', 1, 2, 3, 4, 5}));
  EXPECT_THAT(ParseBlasCalls(good + "sgemm_\tC\n", "f.tsv").error().message,
              HasSubstr("f.tsv:2: 2 fields instead of 9"));
  EXPECT_THAT(ParseBlasCalls("sgemm_\tX\tn\tt\t1\t2\t3\t4\t5", "f").error().message,
              HasSubstr("'X' is not one of RC-"));
  EXPECT_FALSE(ParseBlasCalls("sgemm_\tC\tn\tt\t1\t2\t3\t4\t-5", "f").ok());
}

}  // namespace
}  // namespace tench::blas_census_test
