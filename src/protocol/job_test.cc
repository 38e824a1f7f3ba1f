// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "net/builder.h"
#include "protocol/message.h"

namespace tench::job_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Graph SmallNetwork() {
  GraphBuilder builder("small");
  builder.Append("data", Input{InputRole::kData, {4}, {FillKind::kGaussian, 0, 1}}, {});
  builder.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 3}}, {});
  builder.Append("fc", FullyConnected{3, true}, {"data"}, {{FillKind::kXavier, 0, 0}, 1, 1},
                 {{}, 2, 0});
  builder.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
  return builder.Take();
}

Job SmallJob() {
  Job job;
  job.network = SmallNetwork();
  job.batch = 8;
  job.device = "gpu:1";
  job.threads = 3;
  job.precision = "bf16";
  job.phase = Phase::kGradient;
  job.seed = std::numeric_limits<uint64_t>::max();
  job.cycled = true;
  job.images = 1024;
  job.labels = 1;
  job.solver = {0.1, 0.8, 0.0002};
  job.lr_schedule = {0.1, 0.01};
  job.dropout = false;
  job.budget = {1, 2, 3, 4, 5, 0.06, 7};
  job.search_ns = 5'000'000'000;
  job.options = {{"layout", "nchw"}};
  job.tensors = {{{"fc.weight", "/tmp/w.bin"}}, "/tmp/out", {"*"}, true, true, true};
  return job;
}

std::string ErrorWith(const std::function<void(Json&)>& change) {
  Json json = ToJson(SmallJob());
  change(json);
  const auto parsed = ParseJob(PrintJson(json), "job.json");
  return parsed.ok() ? "no error" : parsed.error().message;
}

TEST(JobTest, ATimedBuildIsAskedForInTheJson) {
  Job job;
  job.network = {"n", {}};
  EXPECT_EQ(PrintJson(ToJson(job)).find("observe"), std::string::npos);
  job.tensors.observe = false;
  EXPECT_NE(PrintJson(ToJson(job)).find("\"observe\":false"), std::string::npos);
}

TEST(JobTest, ComesBackWhole) {
  const Job job = SmallJob();
  const auto parsed = ParseJob(PrintJson(ToJson(job)), "job.json");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->network, job.network);
  EXPECT_EQ(parsed->batch, 8);
  EXPECT_EQ(parsed->seed, job.seed);
  EXPECT_EQ(parsed->phase, Phase::kGradient);
  EXPECT_EQ(parsed->budget.time_limit_ns, 7);
  EXPECT_EQ(parsed->budget.relative_interval, 0.06);
  EXPECT_EQ(parsed->solver.momentum, 0.8);
  EXPECT_EQ(parsed->tensors.load.at("fc.weight"), "/tmp/w.bin");
  EXPECT_EQ(PrintJson(ToJson(*parsed)), PrintJson(ToJson(job)));
}

TEST(JobTest, SaysOfItsSolverOnlyWhatIsBeyondPlainSgd) {
  Job job = SmallJob();
  EXPECT_EQ(PrintJson(ToJson(job)["solver"]), R"({"lr":0.1,"momentum":0.8,"weight_decay":0.0002})");
  job.solver.type = SolverType::kNesterov;
  job.solver.clip_gradients = 35;
  EXPECT_EQ(
      PrintJson(ToJson(job)["solver"]),
      R"({"lr":0.1,"momentum":0.8,"weight_decay":0.0002,"type":"nesterov","clip_gradients":35.0})");
  job.solver = {0.1, 0.8, 0.0002, SolverType::kAdam, 0.99, 1e-4, 2};
  const auto parsed = ParseJob(PrintJson(ToJson(job)), "job.json");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->solver, job.solver);
  job.solver = {0.1, 0, 0.0002, SolverType::kRmsprop};
  job.solver.rms_decay = 0.9;
  job.solver.regularization = Regularization::kL1;
  job.solver.iter_size = 4;
  job.first_step = 7;
  job.tensors.every_step = true;
  const auto again = ParseJob(PrintJson(ToJson(job)), "job.json");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->solver, job.solver);
  EXPECT_EQ(again->first_step, 7);
  EXPECT_TRUE(again->tensors.every_step);
}

TEST(JobTest, CarriesSnapshotsOnlyWhereTheyAreAskedFor) {
  Job job = SmallJob();
  EXPECT_FALSE(ToJson(job).contains("snapshots"));
  job.snapshots = {"/kept", {10, 20}};
  const auto parsed = ParseJob(PrintJson(ToJson(job)), "job.json");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->snapshots.folder, "/kept");
  EXPECT_EQ(parsed->snapshots.after, (std::vector<int64_t>{10, 20}));
  job.snapshots.after = {20, 10};
  EXPECT_THAT(ParseJob(PrintJson(ToJson(job)), "job.json").error().message,
              HasSubstr("job.snapshots.after: must increase"));
}

TEST(JobTest, CarriesTheParametersForWorkersWithoutShapeInference) {
  const Json json = ToJson(SmallJob());
  ASSERT_EQ(json["parameters"].size(), 2u);
  EXPECT_EQ(json["parameters"][0]["name"], "fc.weight");
  EXPECT_EQ(json["parameters"][0]["shape"], Json({3, 4}));
  EXPECT_EQ(json["fingerprint"], Fingerprint(SmallNetwork()));
}

TEST(JobTest, NeedsOnlyProtocolNetworkAndBatch) {
  const Json full = ToJson(SmallJob());
  const Json small = {{"protocol", full["protocol"]}, {"network", full["network"]}, {"batch", 2}};
  const auto parsed = ParseJob(PrintJson(small), "job.json");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->device, "cpu");
  EXPECT_EQ(parsed->phase, Phase::kTrain);
  EXPECT_EQ(parsed->budget.min_steps, Budget().min_steps);
  for (const char* key : {"protocol", "network", "batch"})
    EXPECT_THAT(ErrorWith([&](Json& json) { json.erase(key); }),
                HasSubstr(fmt::format("job.{}: is missing", key)));
}

TEST(JobTest, RefusesWhatIsOutOfRange) {
  EXPECT_EQ(ErrorWith([](Json& json) { json["batch"] = 0; }),
            "job.json: job.batch: must be an integer from 1 to 1048576, not 0");
  EXPECT_THAT(ErrorWith([](Json& json) { json["batch"] = 1'000'000'000'000; }),
              HasSubstr("job.batch: must be an integer"));
  EXPECT_THAT(ErrorWith([](Json& json) { json["threads"] = 0; }),
              HasSubstr("job.threads: must be an integer from 1"));
  EXPECT_THAT(ErrorWith([](Json& json) { json["device"] = "tpu"; }),
              HasSubstr("'tpu' is not cpu, gpu"));
  EXPECT_THAT(ErrorWith([](Json& json) { json["precision"] = "f64"; }),
              HasSubstr("not one of f32, bf16, f16"));
  EXPECT_THAT(ErrorWith([](Json& json) { json["phase"] = "sleep"; }),
              HasSubstr("job.phase: unknown phase 'sleep'"));
  EXPECT_THAT(ErrorWith([](Json& json) { json["seed"] = -1; }),
              HasSubstr("job.seed: must be an unsigned"));
  EXPECT_THAT(ErrorWith([](Json& json) { json["solver"]["lr"] = "nan"; }),
              HasSubstr("job.solver.lr: must be a number from 0"));
  EXPECT_THAT(ErrorWith([](Json& json) { json["solver"]["type"] = "adagard"; }),
              HasSubstr("job.solver.type: 'adagard' is none of sgd, nesterov, adam"));
  EXPECT_THAT(ErrorWith([](Json& json) { json["solver"]["regularization"] = "l3"; }),
              HasSubstr("job.solver.regularization: 'l3' is none of l2, l1"));
  EXPECT_THAT(ErrorWith([](Json& json) { json["solver"]["momentum2"] = 1.5; }),
              HasSubstr("job.solver.momentum2: must be a number from 0"));
  EXPECT_THAT(ErrorWith([](Json& json) { json["solver"]["clip_gradients"] = -1; }),
              HasSubstr("job.solver.clip_gradients: must be"));
  EXPECT_THAT(ErrorWith([](Json& json) { json["lr_schedule"][1] = "inf"; }),
              HasSubstr("job.lr_schedule: must hold finite"));
  EXPECT_THAT(ErrorWith([](Json& json) { json["budget"]["min_steps"] = -1; }),
              HasSubstr("job.budget.min_steps: must be an integer"));
}

TEST(JobTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(ErrorWith([](Json& json) { json["thread"] = 4; }),
            "job.json: job: unknown key 'thread'; did you mean 'threads'?");
  EXPECT_THAT(ErrorWith([](Json& json) { json["budget"]["min_step"] = 4; }),
              HasSubstr("job.budget: unknown key 'min_step'"));
  EXPECT_THAT(ErrorWith([](Json& json) { json["network"]["layers"] = 4; }),
              StartsWith("job.json: job.network: "));
}

TEST(JobTest, RefusesAnotherProtocolBeforeAnythingElse) {
  EXPECT_EQ(ErrorWith([](Json& json) {
              json = {{"protocol", 9}, {"novelty", true}};
            }),
            "job.json: job.protocol: version 9 is not supported; this side has version 1");
}

TEST(JobTest, RefusesANetworkThatIsNotTheOneTheWriterMeant) {
  EXPECT_THAT(ErrorWith([](Json& json) { json["fingerprint"] = "0123456789abcdef"; }),
              HasSubstr("job.fingerprint: the network has the fingerprint"));
}

TEST(JobTest, CarriesALoaderAndAnEvaluationOnlyWhereTheyAreAskedFor) {
  Job job = SmallJob();
  for (const char* key : {"data_threads", "prefetch", "evaluation"})
    EXPECT_FALSE(ToJson(job).contains(key)) << key;
  job.data_threads = 3;
  job.prefetch = 0;
  job.evaluation = {"mnist:/digits", 62, {Target::Metric::kAccuracy, 0.98}};
  const auto parsed = ParseJob(PrintJson(ToJson(job)), "job.json");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->data_threads, 3);
  EXPECT_EQ(parsed->prefetch, 0);
  EXPECT_EQ(parsed->evaluation.data, "mnist:/digits");
  EXPECT_EQ(parsed->evaluation.every, 62);
  EXPECT_EQ(ToString(parsed->evaluation.until), "accuracy >= 0.98");
  EXPECT_TRUE(parsed->evaluated);
  Json json = ToJson(job);
  json["evaluation"]["until"] = "soon";
  EXPECT_THAT(ParseJob(PrintJson(json), "job").error().message,
              HasSubstr("job.evaluation.until: 'soon' is neither"));
  json["evaluation"] = {{"data", ""}};
  EXPECT_THAT(ParseJob(PrintJson(json), "job").error().message,
              HasSubstr("job.evaluation.data: is empty"));
}

TEST(JobTest, ATraceNeedsAProfileAndNamesItsSteps) {
  Job job = SmallJob();
  EXPECT_FALSE(ToJson(job).contains("trace"));
  job.profile = true;
  job.trace = {"/tmp/trace", 2, 4};
  const auto parsed = ParseJob(PrintJson(ToJson(job)), "job.json");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->trace.file, "/tmp/trace");
  EXPECT_EQ(parsed->trace.first, 2);
  EXPECT_EQ(parsed->trace.last, 4);
  EXPECT_EQ(parsed->traced_steps, 4);
  const auto error_with = [&](const char* key, const Json& value) {
    Json json = ToJson(job);
    json["trace"][key] = value;
    return ParseJob(PrintJson(json), "job").error().message;
  };
  EXPECT_THAT(error_with("last", 1), HasSubstr("job.trace.last: must not be less than 'first'"));
  EXPECT_THAT(error_with("file", ""), HasSubstr("job.trace.file: is empty"));
  job.profile = false;
  EXPECT_THAT(ParseJob(PrintJson(ToJson(job)), "job").error().message,
              HasSubstr("job.trace: needs 'profile'"));
}

}  // namespace
}  // namespace tench::job_test
