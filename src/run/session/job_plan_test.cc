// SPDX-License-Identifier: Apache-2.0
#include "run/session/job_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "machine/affinity.h"
#include "net/graph.h"

namespace tench::job_plan_test {
namespace {

using testing::HasSubstr;

PlannedCell Planned(const std::vector<std::pair<std::string, std::string>>& axes) {
  PlannedCell planned;
  EXPECT_TRUE(planned.cell.Set("worker", "reference"));
  EXPECT_TRUE(planned.cell.Set("network", "lenet"));
  for (const auto& [name, text] : axes) EXPECT_TRUE(planned.cell.Set(name, text)) << name;
  planned.id = planned.cell.Id();
  return planned;
}

std::string WhyNot(const PlannedCell& planned) {
  RunRecord record;
  const auto job = PlanJob(planned, 4, record);
  return job ? "" : job.error().message;
}

TEST(JobPlanTest, CarriesTheCellIntoTheJob) {
  RunRecord record;
  const auto job = PlanJob(Planned({{"batch", "8"},
                                    {"phase", "gradient"},
                                    {"lr", "0.1"},
                                    {"seed", "5"},
                                    {"labels", "1"},
                                    {"precision", "bf16"},
                                    {"option.layout", "nchw"}}),
                           4, record);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->batch, 8);
  EXPECT_EQ(job->phase, Phase::kGradient);
  EXPECT_EQ(job->solver.lr, 0.1);
  EXPECT_EQ(job->seed, 5u);
  EXPECT_EQ(job->labels, 1);
  EXPECT_EQ(job->precision, "bf16");
  EXPECT_EQ(job->options.at("layout"), "nchw");
  EXPECT_EQ(job->images, 0) << "one resident batch";
  EXPECT_EQ(record.parameters, 431080);
  EXPECT_EQ(record.fingerprint, Fingerprint(job->network));
}

TEST(JobPlanTest, TheOptimizerAndItsScheduleReachTheJob) {
  RunRecord record;
  PlannedCell planned = Planned({{"optimizer", "adam,momentum2=0.99"},
                                 {"lr", "0.1"},
                                 {"lr_policy", "step,gamma=0.5,stepsize=2"}});
  planned.budget.fixed_steps = 4;
  planned.budget.warmup_steps = 1;
  const auto job = PlanJob(planned, 4, record);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->solver.type, SolverType::kAdam);
  EXPECT_EQ(job->solver.momentum2, 0.99);
  EXPECT_EQ(job->solver.momentum, 0.9);
  EXPECT_EQ(record.solver, "adam momentum2=0.99 delta=1e-08");
  EXPECT_EQ(job->lr_schedule, (std::vector<double>{0.1, 0.1, 0.05, 0.05, 0.025}));
  // These types have no momentum, so the axis has no effect on them.
  EXPECT_EQ(PlanJob(Planned({{"optimizer", "adagrad"}}), 4, record)->solver.momentum, 0);
  EXPECT_TRUE(PlanJob(Planned({}), 4, record)->lr_schedule.empty());
}

TEST(JobPlanTest, ARateThatIsNoNumberFromZeroOnIsRefused) {
  PlannedCell planned = Planned({{"lr_policy", "exp,gamma=-1"}});
  planned.budget.fixed_steps = 4;
  EXPECT_EQ(WhyNot(planned), "lr_policy exp,gamma=-1: the learning rate of step 1 is -0.01");
  planned = Planned({{"lr_policy", "exp,gamma=0.9"}});
  planned.budget.fixed_steps = 1'000'000;
  planned.budget.warmup_steps = 0;
  EXPECT_EQ(WhyNot(planned), "the axis lr_policy allows 200000 steps, not 1000000");
}

TEST(JobPlanTest, ZeroThreadsAreAllCpusAndMoreThanAllAreRefused) {
  RunRecord record;
  EXPECT_EQ(PlanJob(Planned({}), 4, record)->threads, 4);
  EXPECT_EQ(record.threads, 4);
  EXPECT_EQ(PlanJob(Planned({{"threads", "2"}}), 4, record)->threads, 2);
  EXPECT_EQ(WhyNot(Planned({{"threads", "5"}})),
            "5 threads were requested, but this process may use only 4 CPUs");
}

TEST(JobPlanTest, NotesWhetherTheStepsDrawDropoutMasks) {
  RunRecord record;
  ASSERT_TRUE(PlanJob(Planned({}), 4, record));
  EXPECT_EQ(record.dropout, false);
  ASSERT_TRUE(PlanJob(Planned({{"network", "alexnet"}}), 4, record));
  EXPECT_EQ(record.dropout, true);
  ASSERT_TRUE(PlanJob(Planned({{"network", "alexnet"}, {"phase", "gradient"}}), 4, record));
  EXPECT_EQ(record.dropout, true);
  ASSERT_TRUE(PlanJob(Planned({{"network", "alexnet"}, {"phase", "forward"}}), 4, record));
  EXPECT_EQ(record.dropout, false) << "the identity in inference";
}

TEST(JobPlanTest, EpochsBecomeSteps) {
  PlannedCell planned = Planned({{"batch", "100"}, {"images", "1024"}});
  planned.budget.epochs = 10;
  RunRecord record;
  const auto job = PlanJob(planned, 4, record);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->budget.fixed_steps, 100);
  EXPECT_EQ(job->budget.epochs, 0);
  EXPECT_EQ(job->images, 1024);
}

TEST(JobPlanTest, EpochsAndCycledInputTakeTheDataSetsOwnSize) {
  PlannedCell planned = Planned({{"batch", "60"}});
  planned.budget.epochs = 1;
  RunRecord record;
  EXPECT_EQ(PlanJob(planned, 4, record)->budget.fixed_steps, 1000);
  EXPECT_EQ(PlanJob(Planned({{"input", "cycled"}}), 4, record)->images, 60000);
}

TEST(JobPlanTest, ABatchLargerThanAnEpochIsRefused) {
  PlannedCell planned = Planned({{"batch", "2048"}, {"images", "1024"}});
  planned.budget.epochs = 1;
  EXPECT_THAT(WhyNot(planned), HasSubstr("a batch of 2048"));
}

TEST(JobPlanTest, StepFlopsFollowThePhase) {
  RunRecord forward, gradient, train;
  ASSERT_TRUE(PlanJob(Planned({{"phase", "forward"}, {"batch", "2"}}), 4, forward));
  ASSERT_TRUE(PlanJob(Planned({{"phase", "gradient"}, {"batch", "2"}}), 4, gradient));
  ASSERT_TRUE(PlanJob(Planned({{"phase", "train"}, {"batch", "2"}}), 4, train));
  EXPECT_EQ(forward.step_flops, 2 * forward.forward_flops_per_image);
  EXPECT_GT(gradient.step_flops, 2 * forward.step_flops);
  EXPECT_GT(train.step_flops, gradient.step_flops);
}

TEST(JobPlanTest, TheReproducerNamesOnlyWhatIsNotUsual) {
  PlannedCell planned = Planned({{"batch", "64"}});
  EXPECT_EQ(Reproducer(planned), "tench run --worker reference --network lenet --batch 64");
  planned.budget.min_time_ns = 1'500'000'000;
  planned.budget.relative_interval = 0.05;
  planned.limits.memory_bytes = 1 << 30;
  planned.limits.swap = SwapPolicy::kKill;
  EXPECT_EQ(Reproducer(planned),
            "tench run --worker reference --network lenet --batch 64 --min-time 1500ms --interval "
            "0.05 --memory-limit "
            "1073741824 "
            "--swap kill");
  planned.budget.epochs = 3;
  EXPECT_THAT(Reproducer(planned), HasSubstr("--epochs 3 --memory-limit"));
}

TEST(JobPlanTest, TheCommandOfARunNamesThreadsEnvironmentAndAmendment) {
  RunRequest request{Planned({{"batch", "64"}}), 0, 0, 0, "pond", "pond-id"};
  request.amendment = " --solver s.prototxt";
  setenv("TENCH_REFERENCE_X", "two words", 1);
  const std::string command = RunCommand(request);
  unsetenv("TENCH_REFERENCE_X");
  EXPECT_THAT(command, HasSubstr("TENCH_REFERENCE_X='two words' "));
  EXPECT_THAT(command,
              HasSubstr(fmt::format("tench run --worker reference --network lenet --threads {} "
                                    "--batch 64 --solver s.prototxt",
                                    AllowedCpus().size())));
}

TEST(JobPlanTest, RealDataReachesTheJobWithItsPathAndSize) {
  const TemporaryFolder folder = *TemporaryFolder::Make("job-plan-test");
  const std::string table = folder.path() / "table.csv";
  std::string text;
  for (int n = 0; n < 5; ++n) {
    for (int i = 0; i < 784; ++i) text += "7,";
    text += std::to_string(n) + "\n";
  }
  ASSERT_TRUE(WriteFileAtomically(table, text).ok());
  const std::string data = "csv:" + table + ",shape=1x28x28,classes=10";
  RunRecord record;
  const auto job = PlanJob(Planned({{"data", data}, {"input", "cycled"}}), 4, record);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->data, data);
  EXPECT_EQ(job->images, 5);
  EXPECT_EQ(WhyNot(Planned({{"data", data}, {"labels", "2"}})),
            "the axis labels limits the labels of synthetic data only");
  EXPECT_EQ(WhyNot(Planned({{"data", data}, {"images", "6"}})),
            "6 images were requested, but the data has 5");
}

}  // namespace
}  // namespace tench::job_plan_test
