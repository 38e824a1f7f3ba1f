// SPDX-License-Identifier: Apache-2.0
// Every optimizer that a worker declares, against the reference worker: five steps, with the
// learning rate divided by ten after the second.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/file.h"
#include "dialogue.h"
#include "net/fill.h"
#include "parity/update_check.h"
#include "protocol/missing_fact.h"
#include "small_networks.h"
#include "test_name.h"

namespace tench::update_contract_test {
namespace {

// Rounding over five steps; a different update rule deviates a hundred times more.
constexpr double kTolerance = 1e-4;
constexpr int64_t kUpdates = 5;

std::string ReferencePath() {
  for (const std::string& path : BuiltWorkers())
    if (WorkerName(path) == "reference") return path;
  return "";
}

Job UpdateJob(const Solver& solver) {
  Job job;
  job.network = SmallLenet();
  job.network.layers[2].bias.lr_mult = 0;  // is not trained, and is not part of the norm
  job.batch = 4;
  job.solver = solver;
  job.lr_schedule = {solver.lr, solver.lr, solver.lr / 10};
  job.budget.warmup_steps = 0;
  job.budget.fixed_steps = kUpdates;
  job.cycled = solver.iter_size > 1;
  job.images = 12;
  return job;
}

using Tensors = std::map<std::string, std::vector<float>>;

// The change of each parameter from its fill.
Tensors Movements(const std::string& worker, Job job) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-update");
  job.tensors.folder = folder.path().string();
  job.tensors.parameters = true;
  const Dialogue dialogue = Do(worker, job);
  EXPECT_EQ(dialogue.types().back(), "result") << dialogue.lines.back();
  Tensors movements;
  const TypedGraph graph = *Infer(job.network, job.batch);
  for (const Parameter& parameter : graph.parameters) {
    std::vector<float> end(static_cast<size_t>(ElementCount(parameter.shape))), start(end.size());
    const Status read =
        ReadRaw(folder.path() / "parameters" / (parameter.name + ".bin"), std::span<float>(end));
    EXPECT_TRUE(read.ok()) << read.error().message;
    FillTensor(job.seed, parameter.name, parameter.fill, 0, std::span<float>(start));
    for (size_t i = 0; i < end.size(); ++i) end[i] -= start[i];
    movements[parameter.name] = std::move(end);
  }
  return movements;
}

double RelativeDifference(const std::vector<float>& expected, const std::vector<float>& got) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += (double{got[i]} - expected[i]) * (double{got[i]} - expected[i]);
    norm += double{expected[i]} * expected[i];
  }
  return norm == 0 ? (difference == 0 ? 0 : 1e9) : std::sqrt(difference / norm);
}

std::map<std::string, Solver> Solvers() {
  std::map<std::string, Solver> solvers;
  solvers["sgd"] = {0.01, 0.9, 0.0005};
  solvers["nesterov"] = {0.01, 0.9, 0.0005, SolverType::kNesterov};
  // A delta comparable to √s, so that adding it inside the root would be detected. It also keeps
  // rounding below a whole step.
  solvers["adam"] = {0.001, 0.9, 0.0005, SolverType::kAdam, 0.99, 0.01};
  Solver rmsprop{0.001, 0, 0.0005, SolverType::kRmsprop, 0.999, 0.01};
  rmsprop.rms_decay = 0.95;
  solvers["rmsprop"] = rmsprop;
  solvers["adagrad"] = {0.001, 0, 0.0005, SolverType::kAdagrad, 0.999, 0.01};
  solvers["adadelta"] = {1, 0.9, 0.0005, SolverType::kAdadelta, 0.999, 1e-4};
  solvers["sgd, l1"] = solvers["sgd"];
  solvers["sgd, l1"].weight_decay = 0.01;
  solvers["sgd, l1"].regularization = Regularization::kL1;
  for (const char* name : {"adadelta", "sgd, l1"}) {
    Solver several = solvers[name];
    several.iter_size = 2;
    solvers[std::string(name) + ", 2 batches"] = several;
  }
  solvers["sgd, l1, 2 batches"].clip_gradients = 0.5;
  solvers["sgd, clipped"] = solvers["sgd"];
  solvers["adam, clipped"] = solvers["adam"];
  solvers["nesterov, not clipped"] = solvers["nesterov"];
  solvers["sgd, clipped"].clip_gradients = solvers["adam, clipped"].clip_gradients = 0.5;
  solvers["nesterov, not clipped"].clip_gradients = 1000;
  return solvers;
}

bool HasAll(const Description& worker, const Solver& solver) {
  return std::ranges::all_of(SolverNeeds(solver), [&](const std::string& word) {
    return std::ranges::count(worker.updates, word) > 0;
  });
}

// Whether the same solver with clipping tests this one as well. For workers that start slowly.
bool IsPartOfClipped(const Description& worker, const Solver& solver) {
  if (solver.type == SolverType::kSgd || solver.clip_gradients > 0) return false;
  Solver clipped = solver;
  clipped.clip_gradients = 1;
  return HasAll(worker, clipped);
}

class UpdateContractTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (const std::string why = WhyNotTested(WorkerName(GetParam())); !why.empty())
      GTEST_SKIP() << why;
  }
};

TEST_P(UpdateContractTest, MovesParametersAsTheReferenceDoes) {
  const auto description =
      ParseDescription(Ask(GetParam(), {"--describe", "--fd", "3"}).lines.at(0), "description");
  ASSERT_TRUE(description.ok()) << description.error().message;
  const auto missing = description->facts.find(kMissingFact);
  if (missing != description->facts.end()) GTEST_SKIP() << missing->second;
  for (const auto& [name, solver] : Solvers()) {
    SCOPED_TRACE(name);
    if (IsOnKit(WorkerName(GetParam())) && IsPartOfClipped(*description, solver)) continue;
    const Job job = UpdateJob(solver);
    if (!HasAll(*description, solver)) {
      EXPECT_EQ(Do(GetParam(), job).Last<Failure>().kind, ErrorKind::kUnsupported);
      continue;
    }
    static std::map<std::string, Tensors> answers;
    if (!answers.contains(name)) answers[name] = Movements(ReferencePath(), job);
    for (const auto& [parameter, movement] : Movements(GetParam(), job))
      EXPECT_LE(RelativeDifference(answers[name].at(parameter), movement), kTolerance) << parameter;
  }
}

// One observed step of each update, recomputed from the worker's own gradient and histories.
TEST_P(UpdateContractTest, UpdatesByItsFormula) {
  const auto description =
      ParseDescription(Ask(GetParam(), {"--describe", "--fd", "3"}).lines.at(0), "description");
  ASSERT_TRUE(description.ok()) << description.error().message;
  if (description->facts.contains(kMissingFact)) GTEST_SKIP();
  for (const auto& [name, solver] : Solvers()) {
    if (solver.iter_size > 1 || solver.clip_gradients > 0 || name == "sgd") continue;
    SCOPED_TRACE(name);
    // The momentum of MXNet's nag_mom_update deviates by up to 28 allowances
    // (docs/workers/mxnet.md).
    const bool deviates = WorkerName(GetParam()) == "mxnet" && solver.type == SolverType::kNesterov;
    const double most = deviates ? 100 : 1;
    const std::vector<std::string> needs = SolverNeeds(solver);
    if (!std::ranges::all_of(needs, [&](const std::string& word) {
          return std::ranges::count(description->updates, word) > 0;
        }))
      continue;
    Subject subject;
    subject.job = UpdateJob(solver);
    Trial trial = *MakeTrial(subject, TrialKind::kSteady);
    const TemporaryFolder folder = *TemporaryFolder::Make("tench-update");
    trial.job.tensors.folder = folder.path().string();
    for (const auto& [tensor, values] : trial.reals) {
      const std::filesystem::path file = folder.path() / (tensor + ".load");
      ASSERT_TRUE(WriteRaw(file, std::span<const float>(values)).ok());
      trial.job.tensors.load[tensor] = file.string();
    }
    const Dialogue dialogue = Do(GetParam(), trial.job);
    ASSERT_EQ(dialogue.types().back(), "result") << dialogue.lines.back();
    for (const Deviation& deviation : CheckUpdate(trial, folder.path()))
      EXPECT_LE(deviation.ratio(), most) << deviation.what;
  }
}

// Non-default values in every field of the solver, so that an ignored field is detected.
TEST(SolversUnderTestTest, DifferFromEachOther) {
  std::map<std::string, Tensors> answers;
  for (const auto& [name, solver] : Solvers())
    answers[name] = Movements(ReferencePath(), UpdateJob(solver));
  for (const auto& [left, right] : {std::pair("sgd", "nesterov"),
                                    {"sgd", "sgd, clipped"},
                                    {"adam", "adam, clipped"},
                                    {"sgd", "adam"},
                                    {"rmsprop", "adagrad"},
                                    {"sgd", "sgd, l1"},
                                    {"sgd, l1", "sgd, l1, 2 batches"},
                                    {"adadelta", "adadelta, 2 batches"}})
    EXPECT_GT(RelativeDifference(answers[left]["ip1.weight"], answers[right]["ip1.weight"]),
              100 * kTolerance)
        << left << " and " << right;
  EXPECT_LE(RelativeDifference(answers["nesterov"]["ip1.weight"],
                               answers["nesterov, not clipped"]["ip1.weight"]),
            kTolerance);
  EXPECT_THAT(answers["sgd"]["conv1.bias"], testing::Each(0.0f));
}

INSTANTIATE_TEST_SUITE_P(Workers, UpdateContractTest, testing::ValuesIn(BuiltWorkers()),
                         [](const auto& worker) { return TestName(WorkerName(worker.param)); });

}  // namespace
}  // namespace tench::update_contract_test
