// SPDX-License-Identifier: Apache-2.0
// Every way in which a run can end, with a scripted worker.
#include "run/session/run_cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <fstream>

#include "base/json.h"
#include "machine/affinity.h"
#include "run/session/isa_limit.h"
#include "run/session/test_worker.h"

namespace tench::run_cell_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr int64_t kMillisecond = 1'000'000;

class RunCellTest : public testing::Test {
 protected:
  RunResult RunPlanned(const PlannedCell& planned) {
    RunRequest request;
    request.planned = planned;
    return RunCell(
        workers_.catalog(), request,
        [this](const RunProgress& progress) { seen_.push_back(progress); }, stop_.token());
  }
  RunResult Run(const std::string& behaviour) { return RunPlanned(FakeCell(behaviour)); }
  RunResult RunFor(const std::string& behaviour, int64_t timeout_ms) {
    PlannedCell planned = FakeCell(behaviour);
    planned.limits.timeout_ns = timeout_ms * kMillisecond;
    return RunPlanned(planned);
  }
  void TearDown() override { EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left"; }

  TestWorkers workers_;
  std::vector<RunProgress> seen_;
  StopSource stop_;
};

TEST_F(RunCellTest, AGoodRunIsOkWithEverythingThatTheWorkerSaid) {
  const RunResult result = Run("ok");
  const RunRecord& record = result.record;
  EXPECT_EQ(record.outcome, Outcome::kOk) << record.reason;
  EXPECT_EQ(record.reason, "");
  EXPECT_THAT(record.flags, ElementsAre("unverified"));
  EXPECT_EQ(record.worker_version, "1.2.3");
  EXPECT_EQ(record.threads, 1);
  EXPECT_THAT(record.fingerprint, SizeIs(16));
  EXPECT_GT(record.parameters, 0);
  EXPECT_GT(record.step_flops, record.forward_flops_per_image);
  EXPECT_THAT(result.series.step_ns, ElementsAre(2001000, 2002000, 2003000));
  EXPECT_THAT(result.series.warmup_ns, ElementsAre(2000000));
  EXPECT_THAT(result.series.loss, ElementsAre(0.5, 0.5, 0.5, 0.5));
  EXPECT_EQ(record.summary.steps, 3);
  EXPECT_EQ(record.summary.warmup_steps, 1);
  EXPECT_EQ(record.summary.step_ns_median, 2002000);
  EXPECT_EQ(record.summary.converged, std::nullopt) << "the number of steps was fixed";
  EXPECT_EQ(record.summary.build_ns, 1000000);
  EXPECT_EQ(record.summary.steps_peak_rss_bytes, 30 << 20);
  EXPECT_DOUBLE_EQ(*record.summary.cpu_per_wall, 0.9);
  // The worker ends within one sampling interval, and its only sample may precede its exec.
  EXPECT_GT(*record.summary.sampled_peak_rss_bytes, 1 << 16);
  EXPECT_GT(*record.summary.hello_ns, 0);
  EXPECT_GE(*record.summary.first_step_ns, *record.summary.hello_ns);
  EXPECT_GE(record.summary.wall_ns, *record.summary.first_step_ns);
  EXPECT_LT(record.summary.overhead_ns, record.summary.wall_ns);
  EXPECT_THAT(record.worker_json, HasSubstr("libfake.so.1"));
  EXPECT_THAT(record.choices_json, HasSubstr("nchw"));
  EXPECT_FALSE(seen_.empty());
}

TEST_F(RunCellTest, TheReproducerRepeatsCellBudgetAndLimits) {
  PlannedCell planned = FakeCell("ok");
  planned.limits.timeout_ns = 90'000 * kMillisecond;
  // Variables of the caller's environment may precede the command.
  EXPECT_THAT(RunPlanned(planned).record.reproducer,
              testing::EndsWith("tench run --worker fake --network mlp --threads 1 --option "
                                "behaviour=ok --steps 3 --warmup 1 --timeout 90s"));
}

TEST_F(RunCellTest, TheEnvironmentIsScrubbedAndRecorded) {
  setenv("KMP_AFFINITY", "compact", 1);
  const Json environment = *ParseJson(Run("ok").record.environment_json, "environment");
  unsetenv("KMP_AFFINITY");
  EXPECT_FALSE(environment.contains("KMP_AFFINITY"));
  EXPECT_EQ(environment.at("OMP_NUM_THREADS"), "1");
  EXPECT_EQ(environment.at("LANG"), "C.UTF-8");
  EXPECT_EQ(environment.at("TENCH_CPUS"), std::to_string(AllowedCpus().front()));
}

TEST_F(RunCellTest, TheVariablesOfTheCellReachTheWorkerAndTheReproducer) {
  const RunRecord record =
      RunPlanned(FakeCell("environment", {{"env.FAKE_VARIABLE", "a b"}})).record;
  EXPECT_THAT(record.choices_json, HasSubstr("a b"));
  EXPECT_THAT(record.environment_json, HasSubstr("FAKE_VARIABLE"));
  EXPECT_THAT(record.reproducer, HasSubstr("--env 'FAKE_VARIABLE=a b'"));
  EXPECT_THAT(Run("environment").record.choices_json, HasSubstr("unset"));
}

TEST_F(RunCellTest, WhatAWorkerPrintsIsKeptApartFromItsAnswers) {
  const RunResult result = Run("chatter");
  EXPECT_EQ(result.record.outcome, Outcome::kOk) << result.record.reason;
  EXPECT_THAT(result.series.log, HasSubstr("nobody's business"));
}

TEST_F(RunCellTest, ATimeoutKeepsTheStepsThatWereMade) {
  RunResult result;
  // On a busy machine the worker may need longer to reach its second step.
  for (int64_t timeout_ms = 500; timeout_ms < 20'000 && result.series.step_ns.size() < 2;
       timeout_ms *= 3) {
    result = RunFor("slow", timeout_ms);
    ASSERT_EQ(result.record.outcome, Outcome::kTimeout);
  }
  EXPECT_THAT(result.record.reason, HasSubstr("measuring"));
  EXPECT_GT(result.series.step_ns.size(), 1u);
  EXPECT_EQ(result.record.summary.steps, static_cast<int64_t>(result.series.step_ns.size()));
  EXPECT_TRUE(result.record.summary.step_ns_median);
}

TEST_F(RunCellTest, AHangTimesOut) {
  EXPECT_EQ(RunFor("hang", 300).record.outcome, Outcome::kTimeout);
  const RunRecord silent = RunFor("hang_silent", 300).record;
  EXPECT_EQ(silent.outcome, Outcome::kTimeout);
  EXPECT_THAT(silent.reason, HasSubstr("starting"));
}

TEST_F(RunCellTest, AWorkerThatIgnoresSigtermIsKilled) {
  EXPECT_EQ(RunFor("ignore_sigterm", 500).record.outcome, Outcome::kTimeout);
}

TEST_F(RunCellTest, ASignalIsACrashWithItsNameAndTheLastLineOfTheLog) {
  const RunRecord record = Run("segv").record;
  EXPECT_EQ(record.outcome, Outcome::kCrashed);
  EXPECT_THAT(record.reason, HasSubstr("SIGSEGV"));
  EXPECT_THAT(record.reason, HasSubstr("about to die"));
}

TEST_F(RunCellTest, AKillWithoutEvidenceOfMemoryShortageIsACrash) {
  const RunRecord record = Run("sigkill").record;
  EXPECT_EQ(record.outcome, Outcome::kCrashed);
  EXPECT_THAT(record.reason, HasSubstr("SIGKILL"));
  EXPECT_EQ(Run("exit137").record.outcome, Outcome::kCrashed);
}

TEST_F(RunCellTest, AnExitCodeIsACrashWithTheLastLineOfTheLog) {
  const RunRecord record = Run("exit3").record;
  EXPECT_EQ(record.outcome, Outcome::kCrashed);
  EXPECT_THAT(record.reason, HasSubstr("exit code 3"));
  EXPECT_THAT(record.reason, HasSubstr("RuntimeError: cannot go on"));
}

TEST_F(RunCellTest, BreachesOfTheProtocolAreNamed) {
  const std::vector<std::pair<std::string, std::string>> breaches = {
      {"exit0_no_result", "without a result"},
      {"half_line", "inside a line"},
      {"garbage", "\\x00\\xff<html>"},
      {"huge_line", "a line of more than"},
      {"wrong_order", "before 'build'"},
      {"after_result", "after the result"},
      {"too_few_steps", "3 timed steps were requested"}};
  for (const auto& [behaviour, text] : breaches) {
    const RunRecord record = Run(behaviour).record;
    EXPECT_EQ(record.outcome, Outcome::kProtocolError) << behaviour << ": " << record.reason;
    EXPECT_THAT(record.reason, HasSubstr(text)) << behaviour;
  }
}

TEST_F(RunCellTest, AHundredMegabytesOnStderrCostNothingButTime) {
  const RunResult result = Run("flood");
  EXPECT_EQ(result.record.outcome, Outcome::kOk) << result.record.reason;
  EXPECT_LE(result.series.log.size(), 64u << 10);
  EXPECT_THAT(result.series.log, HasSubstr("the last line\n"));
}

TEST_F(RunCellTest, ALossThatIsNoNumberIsDivergedAndEndsTheRun) {
  const RunResult result = Run("nan_loss");
  EXPECT_EQ(result.record.outcome, Outcome::kDiverged);
  EXPECT_EQ(result.record.reason, "the loss is nan at step 1");
  EXPECT_EQ(result.series.loss.size(), 2u);
  EXPECT_EQ(Run("inf_loss").record.outcome, Outcome::kDiverged);
}

TEST_F(RunCellTest, AGradientRunOfAWorkerThatDoesNotMaterializeGradientsIsFlagged) {
  const auto flags = [this](const std::string& behaviour, const std::string& phase) {
    return RunPlanned(FakeCell(behaviour, {{"phase", phase}})).record.flags;
  };
  EXPECT_THAT(flags("ok", "gradient"), Contains("gradients_not_materialized"));
  EXPECT_THAT(flags("materialize", "gradient"), ElementsAre("unverified"));
  EXPECT_THAT(flags("ok", "train"), ElementsAre("unverified"));
  EXPECT_THAT(flags("ok", "forward"), ElementsAre("unverified"));
  EXPECT_THAT(flags("failed", "gradient"), ElementsAre()) << "only an ok run has the flag";
}

TEST_F(RunCellTest, FindingsAreFlagsOnAnOkRun) {
  EXPECT_THAT(Run("negative_loss").record.flags, Contains("negative_loss"));
  EXPECT_THAT(Run("many_threads").record.flags, Contains("threads_exceeded"));
  const RunRecord recompiled = Run("recompile").record;
  EXPECT_THAT(recompiled.flags, Contains("recompiled"));
  EXPECT_EQ(recompiled.summary.compilations, 1) << "those of warm-up steps are expected";
  EXPECT_THAT(Run("ok").record.flags, ElementsAre("unverified"));
  PlannedCell planned = FakeCell("unconverged");
  planned.budget.fixed_steps = 0;
  const RunRecord record = RunPlanned(planned).record;
  EXPECT_EQ(record.outcome, Outcome::kOk);
  EXPECT_THAT(record.flags, Contains("unconverged"));
  EXPECT_EQ(record.summary.converged, false);
}

TEST_F(RunCellTest, ACrashAfterTheResultLeavesItStandingWithARemark) {
  const RunRecord record = Run("crash_after_result").record;
  EXPECT_EQ(record.outcome, Outcome::kOk);
  EXPECT_THAT(record.flags, Contains("unclean_exit"));
  EXPECT_THAT(record.reason, HasSubstr("SIGABRT"));
}

TEST_F(RunCellTest, MemoryOverTheLimitEndsTheRun) {
  PlannedCell planned = FakeCell("memory_hog");
  planned.limits.memory_bytes = int64_t{120} << 20;
  planned.limits.timeout_ns = 20'000 * kMillisecond;
  const RunRecord record = RunPlanned(planned).record;
  EXPECT_EQ(record.outcome, Outcome::kOutOfMemory);
  EXPECT_THAT(record.reason, HasSubstr("more than the limit of 120"));
  EXPECT_GT(*record.summary.sampled_peak_rss_bytes, planned.limits.memory_bytes);
}

TEST_F(RunCellTest, WhatTheWorkerReportsBecomesTheOutcome) {
  EXPECT_EQ(Run("unsupported").record.outcome, Outcome::kUnsupported);
  EXPECT_THAT(Run("unsupported").record.reason, HasSubstr("no lrn"));
  EXPECT_EQ(Run("out_of_memory").record.outcome, Outcome::kOutOfMemory);
  const RunRecord failed = Run("failed").record;
  EXPECT_EQ(failed.outcome, Outcome::kCrashed);
  EXPECT_THAT(failed.reason, Not(HasSubstr("\n"))) << "a reason is one line";
}

TEST_F(RunCellTest, LeavesNoChildOfAWorkerAliveAfterItsResult) {
  const RunRecord record =
      RunPlanned(FakeCell("forks", {{"option.pid_file", workers_.pid_file()}})).record;
  EXPECT_EQ(record.outcome, Outcome::kOk) << record.reason;
  EXPECT_EQ(workers_.Noted().size(), 3u);
  EXPECT_THAT(workers_.AliveNoted(), ElementsAre());
}

TEST_F(RunCellTest, LeavesNoChildOfAWorkerAliveAfterATimeout) {
  PlannedCell planned = FakeCell("forks_hang", {{"option.pid_file", workers_.pid_file()}});
  for (int64_t timeout_ms = 500; timeout_ms < 20'000 && workers_.Noted().size() != 3;
       timeout_ms *= 3) {
    std::filesystem::remove(workers_.pid_file());
    planned.limits.timeout_ns = timeout_ms * kMillisecond;
    ASSERT_EQ(RunPlanned(planned).record.outcome, Outcome::kTimeout);
  }
  EXPECT_EQ(workers_.Noted().size(), 3u);
  EXPECT_THAT(workers_.AliveNoted(), ElementsAre());
}

TEST_F(RunCellTest, AStopIsAnInterruptedRun) {
  RunRequest request;
  request.planned = FakeCell("slow");
  int calls = 0;
  const auto stop_soon = [&](const RunProgress& progress) {
    if (progress.steps > 0 || ++calls > 100) stop_.RequestStop();
  };
  const RunResult result = RunCell(workers_.catalog(), request, stop_soon, stop_.token());
  EXPECT_EQ(result.record.outcome, Outcome::kInterrupted);
  EXPECT_GT(result.series.step_ns.size(), 0u);
}

TEST_F(RunCellTest, AnotherVersionThanTheInstalledOneIsUnsupported) {
  const RunRecord wrong = RunPlanned(FakeCell("slow", {{"worker", "fake@1.20"}})).record;
  EXPECT_EQ(wrong.outcome, Outcome::kUnsupported);
  EXPECT_EQ(wrong.reason, "version 1.20 was requested, but 1.2.3 is installed");
  const RunRecord right = RunPlanned(FakeCell("ok", {{"worker", "fake@1.2"}})).record;
  EXPECT_EQ(right.outcome, Outcome::kOk);
  EXPECT_THAT(right.environment_json, HasSubstr(R"("TENCH_WORKER_VERSION":"1.2")"))
      << "a worker may serve several";
  EXPECT_EQ(RunPlanned(FakeCell("ok", {{"worker", "fake@1.2.3"}})).record.outcome, Outcome::kOk);
}

TEST_F(RunCellTest, AWorkerThatIsNotInstalledIsUnsupportedWithItsNeeds) {
  std::ofstream(workers_.folder() / "tench-worker-absent.json")
      << R"({"name": "absent", "needs": "libabsent 3", "install": "apt install absent"})";
  WorkerCatalog catalog = WorkerCatalog::Discover({workers_.folder()});
  RunRequest request;
  request.planned = FakeCell("ok", {{"worker", "absent"}});
  const RunRecord record = RunCell(catalog, request, nullptr, stop_.token()).record;
  EXPECT_EQ(record.outcome, Outcome::kUnsupported);
  EXPECT_EQ(
      record.reason,
      "the worker 'absent' is not installed; it needs libabsent 3; to install: apt install absent");
  EXPECT_THAT(record.fingerprint, SizeIs(16))
      << "what is known of the network is recorded all the same";
  EXPECT_FALSE(record.reproducer.empty());
}

TEST_F(RunCellTest, MoreThreadsThanCpusAreUnsupported) {
  const RunRecord record = RunPlanned(FakeCell("ok", {{"threads", "4096"}})).record;
  EXPECT_EQ(record.outcome, Outcome::kUnsupported);
  EXPECT_THAT(record.reason, HasSubstr("4096 threads were requested"));
}

TEST_F(RunCellTest, ANetworkWithoutAFormForTheDataIsUnsupported) {
  const RunRecord record =
      RunPlanned(FakeCell("ok", {{"network", "lstm"}, {"data", "mnist"}})).record;
  EXPECT_EQ(record.outcome, Outcome::kUnsupported);
  EXPECT_THAT(record.reason, HasSubstr("lstm"));
}

TEST_F(RunCellTest, AProgramThatCannotBeExecutedIsACrash) {
  const auto path = workers_.folder() / "tench-worker-broken";
  std::ofstream(path) << "#!/nonexistent/interpreter\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  WorkerCatalog catalog = WorkerCatalog::Discover({workers_.folder()});
  RunRequest request;
  request.planned = FakeCell("ok", {{"worker", "broken"}});
  const RunRecord record = RunCell(catalog, request, nullptr, stop_.token()).record;
  EXPECT_EQ(record.outcome, Outcome::kCrashed);
  EXPECT_THAT(record.reason, HasSubstr("cannot start"));
}

TEST_F(RunCellTest, AnIsaLimitIsCheckedByImplementationNamesBeforeTheRun) {
  if (WidestIsaOf(ReadCpu()).empty()) GTEST_SKIP() << "no x86-64 CPU";
  const RunResult obeyed = RunPlanned(FakeCell("isa", {{"isa", "sse41"}}));
  EXPECT_EQ(obeyed.record.outcome, Outcome::kOk) << obeyed.record.reason;
  EXPECT_THAT(obeyed.record.flags, ElementsAre("unverified"));
  EXPECT_THAT(obeyed.record.choices_json, HasSubstr("\"isa.onednn\":\"sse41\""));
  EXPECT_THAT(obeyed.record.environment_json, HasSubstr("\"ONEDNN_MAX_CPU_ISA\":\"SSE41\""));
  EXPECT_THAT(obeyed.record.environment_json, Not(HasSubstr("VERBOSE")));

  const RunResult ignored = RunPlanned(FakeCell("isa_ignored", {{"isa", "sse41"}}));
  EXPECT_EQ(ignored.record.outcome, Outcome::kOk) << ignored.record.reason;
  EXPECT_THAT(ignored.record.flags, Contains("isa_exceeded"));
  EXPECT_EQ(ignored.record.reason, "isa sse41: onednn uses avx512");

  const RunResult silent = RunPlanned(FakeCell("ok", {{"isa", "sse41"}}));
  EXPECT_THAT(silent.record.flags, Contains("isa_unverified"));
}

}  // namespace
}  // namespace tench::run_cell_test
