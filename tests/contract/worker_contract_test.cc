// SPDX-License-Identifier: Apache-2.0
// The protocol's contract, checked for every worker in the build folder. A worker that does not
// declare an op must reject the networks that need it; all other checks apply.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/file.h"
#include "dialogue.h"
#include "net/builder.h"
#include "protocol/missing_fact.h"
#include "small_networks.h"
#include "test_name.h"

namespace tench::worker_contract_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string EncodedName(std::string name) {
  for (size_t slash; (slash = name.find('/')) != std::string::npos;) name.replace(slash, 1, "%2F");
  return name + ".bin";
}

class WorkerContractTest : public testing::TestWithParam<std::string> {
 protected:
  const std::string& worker() const { return GetParam(); }

  // A worker that drives a user's program can be built without it, but not tested.
  void SetUp() override {
    if (const std::string why = WhyNotTested(WorkerName(worker())); !why.empty())
      GTEST_SKIP() << why;
    const Description& description = Describe();
    const auto missing = description.facts.find(kMissingFact);
    if (missing != description.facts.end()) GTEST_SKIP() << missing->second;
  }

  const Description& Describe() const {
    static std::map<std::string, Description> seen;
    const auto found = seen.find(worker());
    return found != seen.end() ? found->second
                               : seen.emplace(worker(), AskForDescription()).first->second;
  }

  Description AskForDescription() const {
    const Dialogue dialogue = Ask(worker(), {"--describe", "--fd", "3"});
    EXPECT_EQ(dialogue.code, 0);
    if (dialogue.lines.size() != 1) {
      ADD_FAILURE() << "a description is one line";
      return {};
    }
    const auto description = ParseDescription(dialogue.lines[0], "description");
    EXPECT_TRUE(description.ok()) << description.error().message;
    return description.ok() ? *description : Description();
  }

  bool DeclaresOpsOf(const Graph& network) const {
    return std::ranges::all_of(network.layers, [&](const Layer& layer) {
      return std::ranges::all_of(OpNeeds(layer.op), [&](const std::string& word) {
        return std::ranges::count(Describe().ops, word) > 0;
      });
    });
  }

  // Whether this worker declares every op of the network; if not, checks that it rejects the
  // network and names a layer.
  bool Supports(const Graph& network) const {
    if (DeclaresOpsOf(network)) return true;
    const Failure failure = Do(worker(), MakeJob(network, Phase::kTrain)).Last<Failure>();
    EXPECT_EQ(failure.kind, ErrorKind::kUnsupported);
    EXPECT_THAT(failure.message, HasSubstr("layer '"));
    return false;
  }

  // The networks that a test runs one by one. Parity runs all of them, so that one is enough for a
  // worker on the kit.
  std::vector<Graph> Networks() const {
    if (!IsOnKit(WorkerName(worker()))) return SmallNetworks();
    for (const Graph& network : {SmallBranches(), SmallLenet(), SmallAutoencoder()})
      if (DeclaresOpsOf(network)) return {network};
    return SmallNetworks();
  }

  static Job MakeJob(const Graph& network, Phase phase, int64_t steps = 3) {
    Job job;
    job.network = network;
    job.batch = 4;
    job.phase = phase;
    job.budget.warmup_steps = 1;
    job.budget.fixed_steps = steps;
    return job;
  }
};

TEST(WorkersFoundTest, AtLeastTheReferenceWorkerIsThere) {
  const std::vector<std::string> workers = BuiltWorkers();
  EXPECT_TRUE(std::ranges::any_of(
      workers, [](const std::string& path) { return WorkerName(path) == "reference"; }));
}

TEST_P(WorkerContractTest, DescribesItselfUnderItsOwnName) {
  const Description& description = Describe();
  EXPECT_EQ(description.name, WorkerName(worker()));
  EXPECT_FALSE(description.version.empty());
  EXPECT_THAT(description.devices, testing::Contains("cpu"));
  EXPECT_THAT(description.precisions, testing::Contains("f32"));
  for (const std::string& op : description.ops)
    EXPECT_EQ(std::ranges::count(OpAbilities(), op), 1) << op;
  const std::vector<std::string> updates = SolverAbilities();
  for (const std::string& update : description.updates)
    EXPECT_EQ(std::ranges::count(updates, update), 1) << update;
  EXPECT_THAT(description.updates, testing::Contains("sgd"));
  for (const WorkerOption& option : description.options) {
    const bool known = std::ranges::count(option.choices, option.fallback) > 0;
    EXPECT_TRUE(option.choices.empty() || known) << option.name;
  }
  for (const TuningCandidate& candidate : description.tuning) {
    for (const auto& [name, value] : candidate.options) {
      const auto option = std::ranges::find(description.options, name,
                                            [](const WorkerOption& o) { return o.name; });
      ASSERT_NE(option, description.options.end()) << name;
      EXPECT_TRUE(option->choices.empty() || std::ranges::count(option->choices, value) > 0)
          << name << "=" << value;
      EXPECT_NE(value, option->fallback) << name << ": the default is tried anyway";
    }
    for (const std::string& op : candidate.ops)
      EXPECT_GT(std::ranges::count(OpNames(), op), 0) << op;
  }
}

TEST_P(WorkerContractTest, MakesTheSlicesOfAJobInTurnsWithTheLossesOfAnyOtherJob) {
  const Graph network = SmallLenet();
  if (!Supports(network)) return;
  Job job = MakeJob(network, Phase::kTrain, 5);
  const std::vector<double> losses = Do(worker(), MakeJob(network, Phase::kTrain, 7)).losses();
  job.turns = true;
  const std::string turns = TurnLine({1, 3}) + "\n" + TurnLine({1, 2}) + "\n";
  const Dialogue dialogue = DoWith(worker(), job, turns);
  EXPECT_EQ(dialogue.code, 0);
  if (!Describe().turns) {
    EXPECT_EQ(dialogue.types().back(), "error");
    return;
  }
  EXPECT_THAT(dialogue.types(), ElementsAre("hello", "build", "steps", "ready", "steps", "ready",
                                            "steps", "ready", "result"));
  EXPECT_EQ(dialogue.losses(), losses);
  EXPECT_TRUE(dialogue.Last<Done>().converged);
}

TEST_P(WorkerContractTest, AnswersEveryPhaseOfEverySmallNetworkInOrder) {
  for (const Graph& network : Networks()) {
    if (!Supports(network)) continue;
    for (const Phase phase : {Phase::kForward, Phase::kGradient, Phase::kTrain}) {
      SCOPED_TRACE(network.name + " " + Name(phase));
      const Dialogue dialogue = Do(worker(), MakeJob(network, phase));
      EXPECT_EQ(dialogue.code, 0);
      ASSERT_THAT(dialogue.types(), ElementsAre("hello", "build", "steps", "result"))
          << dialogue.lines.back();
      EXPECT_EQ(dialogue.losses().size(), 4u);
      for (const double loss : dialogue.losses()) EXPECT_TRUE(std::isfinite(loss));
      EXPECT_EQ(dialogue.Last<Hello>().worker.name, WorkerName(worker()));
      EXPECT_EQ(dialogue.Last<Built>().gradients_materialized, phase == Phase::kGradient);
      const Done done = dialogue.Last<Done>();
      EXPECT_TRUE(done.converged);
      EXPECT_GT(done.peak_rss_bytes, 0);
      EXPECT_GT(done.wall_ns, 0);
    }
  }
}

TEST_P(WorkerContractTest, NumbersStepsWithoutGapsAndMarksTheWarmUp) {
  const Graph network = SmallLenet();
  if (!Supports(network)) return;
  Job job = MakeJob(network, Phase::kTrain, 40);
  job.budget.warmup_steps = 5;
  int64_t next = 0;
  for (const Message& message : Do(worker(), job).messages()) {
    const Steps* steps = std::get_if<Steps>(&message);
    if (steps == nullptr) continue;
    EXPECT_EQ(steps->first, next);
    EXPECT_EQ(steps->warmup, next < 5);
    EXPECT_TRUE(steps->input_ns.empty());
    for (const int64_t step_ns : steps->step_ns) EXPECT_GT(step_ns, 0);
    next += static_cast<int64_t>(steps->step_ns.size());
  }
  EXPECT_EQ(next, 45);
}

TEST_P(WorkerContractTest, TimesItsInputWhenThatIsCycled) {
  const Graph network = SmallLenet();
  if (!Supports(network)) return;
  Job job = MakeJob(network, Phase::kTrain);
  job.cycled = true;
  job.images = 64;
  job.budget.warmup_steps = 0;
  const Dialogue dialogue = Do(worker(), job);
  EXPECT_EQ(dialogue.Last<Steps>().input_ns.size(), dialogue.Last<Steps>().step_ns.size());
  const std::vector<double> losses = dialogue.losses();
  EXPECT_NE(losses[0], losses[1]);
}

// A data set of eight rows of numbers, for SmallTable.
std::string WriteTable(const TemporaryFolder& folder) {
  std::string rows;
  for (int i = 0; i < 8; ++i) rows += fmt::format("{},{},{}\n", i, 7 - i, i < 4 ? 0 : 1);
  const std::filesystem::path file = folder.path() / "table.csv";
  EXPECT_TRUE(WriteFileAtomically(file, rows).ok());
  return "csv:" + file.string() + ",scale=0.125";
}

Graph SmallTable() {
  GraphBuilder b("table");
  b.Append("data", Input{InputRole::kData, {2}, {FillKind::kGaussian, 0, 1}}, {});
  b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 2}}, {});
  b.Append("fc", FullyConnected{2}, {"data"}, {{FillKind::kGaussian, 0, 0.1}});
  b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return b.Take();
}

// Whether the worker answered that it cannot do this, with a reason.
bool Refuses(const Dialogue& dialogue) {
  if (dialogue.types().back() != "error") return false;
  const Failure failure = dialogue.Last<Failure>();
  EXPECT_EQ(failure.kind, ErrorKind::kUnsupported) << failure.message;
  return true;
}

TEST_P(WorkerContractTest, ALoaderGivesTheLossesOfInputThatIsMadeOffTheClock) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-contract");
  Job job = MakeJob(SmallTable(), Phase::kTrain, 12);
  job.cycled = true;
  job.images = 8;
  job.data = WriteTable(folder);
  const Dialogue plain = Do(worker(), job);
  if (Refuses(plain)) return;
  job.data_threads = 3;
  const Dialogue loaded = Do(worker(), job);
  if (Refuses(loaded)) return;
  EXPECT_EQ(loaded.losses(), plain.losses());
  EXPECT_EQ(loaded.Last<Steps>().input_ns.size(), loaded.Last<Steps>().step_ns.size());
  EXPECT_EQ(loaded.Last<Done>().loaded_samples, 13 * 4);
  EXPECT_GT(loaded.Last<Done>().loading_ns, 0);
  EXPECT_TRUE(loaded.Last<Built>().choices.contains("loader"));
}

TEST_P(WorkerContractTest, ABrokenFileEndsALoadedRunWithItsName) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-contract");
  Job job = MakeJob(SmallTable(), Phase::kTrain, 12);
  job.cycled = true;
  job.images = 8;
  job.data = WriteTable(folder) + ",shuffle=no";
  EXPECT_TRUE(WriteFileAtomically(folder.path() / "table.csv", "1,2,0\n1,2,0\nx,2,0\n").ok());
  job.images = 3;
  job.data_threads = 1;
  const Dialogue broken = Do(worker(), job);
  if (broken.Last<Failure>().kind == ErrorKind::kUnsupported) return;
  EXPECT_THAT(broken.Last<Failure>().message, HasSubstr("table.csv"));
}

// With one resident batch that is also the test split, the loss of an evaluation is the training
// loss of the step after it.
TEST_P(WorkerContractTest, EvaluatesTheParametersOfItsTraining) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-contract");
  std::string rows;
  for (int sample = 0; sample < 4; ++sample) {
    for (int i = 0; i < 144; ++i) rows += fmt::format("{},", (i * (sample + 3)) % 17);
    rows += fmt::format("{}\n", sample);
  }
  ASSERT_TRUE(WriteFileAtomically(folder.path() / "images.csv", rows).ok());
  Job job = MakeJob(SmallLenet(), Phase::kTrain, 19);
  job.images = 4;
  job.data =
      "csv:" + (folder.path() / "images.csv").string() + ",shape=1x12x12,scale=0.0625,shuffle=no";
  job.solver = {0.02, 0.9, 0};
  const Dialogue plain = Do(worker(), job);
  if (Refuses(plain)) return;
  job.evaluation = {job.data, 5, {}};
  const Dialogue tested = Do(worker(), job);
  if (Refuses(tested)) return;
  // An evaluation changes nothing in the training.
  const std::vector<double> losses = tested.losses();
  EXPECT_EQ(losses, plain.losses());
  std::vector<Evaluation> evaluations;
  for (const Message& message : tested.messages()) {
    if (const auto* one = std::get_if<Evaluation>(&message)) evaluations.push_back(*one);
  }
  ASSERT_EQ(evaluations.size(), 5u);
  for (const Evaluation& one : evaluations) {
    EXPECT_EQ(one.samples, 4);
    EXPECT_EQ(one.step, 5 * (&one - evaluations.data()));
    if (one.step == 20) continue;  // there is no later step
    EXPECT_NEAR(one.loss, losses[static_cast<size_t>(one.step)], 1e-3 * losses[0]) << one.step;
  }
  EXPECT_LT(evaluations[4].loss, 0.9 * evaluations[0].loss);
  EXPECT_GE(evaluations[4].top5.value_or(0), evaluations[4].top1.value_or(1));
}

TEST_P(WorkerContractTest, LowersTheLossOnAFixedBatch) {
  for (const Graph& network : Networks()) {
    if (!Supports(network)) continue;
    SCOPED_TRACE(network.name);
    Job job = MakeJob(network, Phase::kTrain, 20);
    job.solver = {0.02, 0.9, 0.0005};
    job.dropout = false;
    const std::vector<double> losses = Do(worker(), job).losses();
    ASSERT_EQ(losses.size(), 21u);
    EXPECT_LT(losses.back(), losses.front());
  }
}

TEST_P(WorkerContractTest, GivesTheSameLossesForTheSameSeed) {
  for (const Graph& network : {SmallBranches(), SmallLstm()}) {
    if (IsOnKit(WorkerName(worker())) && network.name != Networks()[0].name) continue;
    if (!Supports(network)) continue;
    Job job = MakeJob(network, Phase::kTrain, 5);
    job.dropout = false;
    const std::vector<double> losses = Do(worker(), job).losses();
    EXPECT_EQ(losses, Do(worker(), job).losses()) << network.name;
    job.seed = 2;
    EXPECT_NE(losses[0], Do(worker(), job).losses()[0]) << network.name;
  }
}

TEST_P(WorkerContractTest, LeavesParametersAloneAtALearningRateOfZero) {
  const Graph network = SmallBranches();
  if (!Supports(network)) return;
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-contract");
  Job job = MakeJob(network, Phase::kTrain);
  job.solver.lr = 0;
  job.tensors.folder = folder.path().string();
  job.tensors.parameters = true;
  ASSERT_EQ(Do(worker(), job).types().back(), "result");
  // A round trip must preserve every bit.
  Job again = job;
  again.seed = 77;
  again.tensors.folder = (folder.path() / "again").string();
  const TypedGraph graph = *Infer(network, job.batch);
  for (const Parameter& parameter : graph.parameters) {
    if (parameter.trained)
      again.tensors.load[parameter.name] =
          (folder.path() / "parameters" / EncodedName(parameter.name)).string();
  }
  ASSERT_EQ(Do(worker(), again).types().back(), "result");
  for (const Parameter& parameter : graph.parameters) {
    if (!parameter.trained) continue;
    const auto first = ReadFile(folder.path() / "parameters" / EncodedName(parameter.name));
    const auto second =
        ReadFile(folder.path() / "again" / "parameters" / EncodedName(parameter.name));
    ASSERT_TRUE(first.ok() && second.ok()) << parameter.name;
    EXPECT_EQ(first->size(), static_cast<size_t>(ElementCount(parameter.shape)) * sizeof(float))
        << parameter.name;
    EXPECT_EQ(*first, *second) << parameter.name;
  }
}

// Parity trains the observing build of every cell, also of one in phase forward. A candidate for
// inference that such a build refused would be fast and stay unverified.
TEST_P(WorkerContractTest, TrainsTheObservingBuildOfEveryCandidateForInference) {
  const std::vector<Graph> networks = Networks();
  const auto network = std::ranges::find_if(networks, [&](const Graph& g) { return Supports(g); });
  for (const TuningCandidate& candidate : Describe().tuning) {
    if (candidate.phases != std::vector<std::string>{"forward"} || network == networks.end())
      continue;
    const TemporaryFolder folder = *TemporaryFolder::Make("tench-contract");
    Job job = MakeJob(*network, Phase::kGradient);
    job.options = candidate.options;
    job.tensors.folder = folder.path().string();
    job.tensors.gradients = true;
    EXPECT_EQ(Do(worker(), job).types().back(), "result") << job.options.begin()->first;
  }
}

TEST_P(WorkerContractTest, WritesEveryGradientAndEveryOutput) {
  for (const Graph& network : Networks()) {
    if (!Supports(network)) continue;
    SCOPED_TRACE(network.name);
    const TemporaryFolder folder = *TemporaryFolder::Make("tench-contract");
    Job job = MakeJob(network, Phase::kGradient);
    job.tensors.folder = folder.path().string();
    job.tensors.gradients = true;
    job.tensors.outputs = {"*"};
    ASSERT_EQ(Do(worker(), job).types().back(), "result");
    const TypedGraph graph = *Infer(network, job.batch);
    for (const Parameter& parameter : graph.parameters) {
      if (!parameter.trained) continue;
      std::vector<float> gradient(static_cast<size_t>(ElementCount(parameter.shape)));
      const Status read = ReadRaw(folder.path() / "gradients" / EncodedName(parameter.name),
                                  std::span<float>(gradient));
      ASSERT_TRUE(read.ok()) << read.error().message;
      EXPECT_TRUE(std::ranges::any_of(gradient, [](float g) { return g != 0; })) << parameter.name;
    }
    for (const TypedLayer& layer : graph.layers) {
      if (std::holds_alternative<Input>(layer.layer.op)) continue;
      std::vector<float> output(static_cast<size_t>(ElementCount(layer.output.shape)));
      const Status read = ReadRaw(folder.path() / "outputs" / EncodedName(layer.layer.name),
                                  std::span<float>(output));
      EXPECT_TRUE(read.ok()) << read.error().message;
    }
  }
}

TEST_P(WorkerContractTest, CutsAuxiliaryHeadsInTheForwardPhase) {
  const Graph network = SmallBranches();
  if (!Supports(network)) return;
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-contract");
  Job job = MakeJob(network, Phase::kForward);
  job.tensors.folder = folder.path().string();
  job.tensors.outputs = {"*"};
  const Dialogue dialogue = Do(worker(), job);
  ASSERT_EQ(dialogue.types().back(), "result");
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "outputs/loss.bin"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "outputs/aux_loss.bin"));
  std::vector<float> loss(1);
  ASSERT_TRUE(ReadRaw(folder.path() / "outputs/loss.bin", std::span<float>(loss)).ok());
  EXPECT_NEAR(loss[0], dialogue.losses().back(), 1e-5 * std::abs(loss[0]));
}

TEST_P(WorkerContractTest, FollowsAScheduleOfLearningRates) {
  const Graph network = SmallLenet();
  if (!Supports(network)) return;
  Job job = MakeJob(network, Phase::kTrain, 4);
  job.budget.warmup_steps = 0;
  job.solver.momentum = 0;
  job.lr_schedule = {0.05, 0};
  const std::vector<double> losses = Do(worker(), job).losses();
  EXPECT_NE(losses[0], losses[1]);
  EXPECT_EQ(losses[1], losses[2]);
  EXPECT_EQ(losses[2], losses[3]);
}

TEST_P(WorkerContractTest, RefusesWhatItDoesNotHave) {
  const Graph network = SmallLenet();
  Job device = MakeJob(network, Phase::kTrain);
  device.device = "cuda:97";
  Job option = MakeJob(network, Phase::kTrain);
  option.options = {{"no-such-option", "1"}};
  for (const Job& job : {device, option}) {
    const Dialogue dialogue = Do(worker(), job);
    EXPECT_EQ(dialogue.code, 0);
    EXPECT_EQ(dialogue.Last<Failure>().kind, ErrorKind::kUnsupported);
    EXPECT_FALSE(dialogue.Last<Failure>().message.empty());
  }
}

TEST_P(WorkerContractTest, AnswersANonsenseJobWithAnErrorLine) {
  Json newer = ToJson(MakeJob(SmallLenet(), Phase::kTrain));
  newer["protocol"] = kProtocolVersion + 1;
  Json headless = ToJson(MakeJob(SmallLenet(), Phase::kTrain));
  headless.erase("network");
  for (const std::string& text : {std::string("garbage"), std::string("{\"protocol\": 1"),
                                  std::string(), PrintJson(newer), PrintJson(headless)}) {
    const Dialogue dialogue = DoText(worker(), text);
    EXPECT_EQ(dialogue.code, 0) << text.substr(0, 60);
    EXPECT_EQ(dialogue.types().back(), "error") << text.substr(0, 60);
  }
}

TEST_P(WorkerContractTest, EndsABadCommandLineWithCodeTwo) {
  EXPECT_EQ(Ask(worker(), {"--jbo", "x"}).code, 2);
  EXPECT_EQ(Ask(worker(), {}).code, 2);
}

INSTANTIATE_TEST_SUITE_P(Workers, WorkerContractTest, testing::ValuesIn(BuiltWorkers()),
                         [](const auto& worker) { return TestName(WorkerName(worker.param)); });

}  // namespace
}  // namespace tench::worker_contract_test
