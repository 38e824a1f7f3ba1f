// SPDX-License-Identifier: Apache-2.0
#include "protocol/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "base/file.h"

namespace tench::message_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();

Description Reference() {
  Description description;
  description.name = "reference";
  description.version = "0.1.0";
  description.ops = {"conv", "fc"};
  description.devices = {"cpu"};
  description.precisions = {"f32"};
  description.options = {{"layout", "memory layout", "nchw", {"nchw", "nhwc"}}};
  description.tuning = {{{{"layout", "nhwc"}}, {{"A", "1"}}, {"forward"}, {"conv", "pool"}}};
  description.facts = {{"blas", "none"}};
  return description;
}

template <class T>
T Back(const T& message) {
  const auto parsed = ParseMessage(ToLine(message));
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return std::get<T>(*parsed);
}

std::string ErrorOf(std::string_view line) {
  const auto parsed = ParseMessage(line);
  return parsed.ok() ? "no error" : parsed.error().message;
}

TEST(MessageTest, HelloComesBackWhole) {
  const Hello hello = Back(Hello{Reference(), {"libgomp.so.1"}, "off", 12345});
  EXPECT_EQ(hello.worker.name, "reference");
  EXPECT_EQ(hello.worker.version, "0.1.0");
  EXPECT_THAT(hello.worker.ops, ElementsAre("conv", "fc"));
  ASSERT_EQ(hello.worker.options.size(), 1u);
  EXPECT_EQ(hello.worker.options[0].fallback, "nchw");
  EXPECT_THAT(hello.worker.options[0].choices, ElementsAre("nchw", "nhwc"));
  ASSERT_EQ(hello.worker.tuning.size(), 1u);
  EXPECT_EQ(hello.worker.tuning[0].options.at("layout"), "nhwc");
  EXPECT_EQ(hello.worker.tuning[0].environment.at("A"), "1");
  EXPECT_THAT(hello.worker.tuning[0].phases, ElementsAre("forward"));
  EXPECT_THAT(hello.worker.tuning[0].ops, ElementsAre("conv", "pool"));
  EXPECT_EQ(hello.worker.facts.at("blas"), "none");
  EXPECT_THAT(hello.libraries, ElementsAre("libgomp.so.1"));
  EXPECT_EQ(hello.flush_to_zero, "off");
  EXPECT_EQ(hello.rss_bytes, 12345);
}

TEST(MessageTest, BuildComesBackWhole) {
  const Built built = Back(Built{7, 8, 9, {{"layout", "nhwc"}}, {{"plan", "a=b"}}, true});
  EXPECT_EQ(built.build_ns, 7);
  EXPECT_EQ(built.peak_rss_bytes, 8);
  EXPECT_EQ(built.planned_bytes, 9);
  EXPECT_EQ(built.choices.at("layout"), "nhwc");
  EXPECT_EQ(built.frozen.at("plan"), "a=b");
  EXPECT_TRUE(built.gradients_materialized);
  EXPECT_FALSE(Back(Built{}).gradients_materialized) << "a worker that does not say";
}

TEST(MessageTest, StepsComeBackWithEveryKindOfLoss) {
  const Steps steps =
      Back(Steps{3, true, {10, 20, 30, 40}, {1, 2, 3, 4}, {0.1, std::nan(""), kInf, -kInf}});
  EXPECT_EQ(steps.first, 3);
  EXPECT_TRUE(steps.warmup);
  EXPECT_THAT(steps.step_ns, ElementsAre(10, 20, 30, 40));
  EXPECT_THAT(steps.input_ns, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(steps.compilations, 0);
  EXPECT_EQ(steps.loss[0], 0.1);
  EXPECT_TRUE(std::isnan(steps.loss[1]));
  EXPECT_EQ(steps.loss[2], kInf);
  EXPECT_EQ(steps.loss[3], -kInf);
}

TEST(MessageTest, StepsCountTheCompilationsDuringThem) {
  EXPECT_EQ(Back(Steps{0, false, {10}, {}, {0.1}, 2}).compilations, 2);
  EXPECT_THAT(ErrorOf(R"({"type":"steps","first":0,"step_ns":[1],"loss":[1],"compilations":-1})"),
              HasSubstr("steps.compilations"));
}

TEST(MessageTest, ACandidateThatSetsNothingOrNamesNoPhaseIsRefused) {
  const auto error_of = [](const std::string& candidate) {
    const auto parsed = ParseDescription(
        R"({"protocol":1,"name":"a","version":"1","ops":[],"devices":[],"precisions":[],)"
        R"("tuning":[)" +
            candidate + "]}",
        "a");
    return parsed.ok() ? "no error" : parsed.error().message;
  };
  EXPECT_EQ(error_of(R"({"options":{"layout":"nhwc"},"phases":["forward"]})"), "no error");
  EXPECT_THAT(error_of("{}"), HasSubstr("description.tuning[0].options"));
  EXPECT_THAT(error_of(R"({"options":{"a":"b"},"phases":["backward"]})"), HasSubstr("backward"));
}

TEST(MessageTest, ResultComesBackWhole) {
  const Done done = Back(Done{true, 1, 2, 3});
  EXPECT_TRUE(done.converged);
  EXPECT_EQ(done.peak_rss_bytes, 1);
  EXPECT_EQ(done.cpu_ns, 2);
  EXPECT_EQ(done.wall_ns, 3);
}

TEST(MessageTest, AProfileComesBackWhole) {
  const std::vector<ProfileRow> rows = {{"conv1", "forward", "jit:avx2", 3, 100, 200, 300},
                                        {"fc", "update", "", 3, 1, 0, 0}};
  EXPECT_EQ(Back(Done{true, 1, 2, 3, rows}).profile, rows);
}

TEST(MessageTest, ErrorComesBackWithItsKind) {
  for (const ErrorKind kind :
       {ErrorKind::kFailed, ErrorKind::kUnsupported, ErrorKind::kOutOfMemory}) {
    const Failure failure = Back(Failure{kind, "layer 'norm1': no lrn"});
    EXPECT_EQ(failure.kind, kind);
    EXPECT_EQ(failure.message, "layer 'norm1': no lrn");
  }
}

// Workers in other languages depend on the exact bytes.
TEST(MessageTest, LinesAreSpeltAsDocumented) {
  EXPECT_EQ(ToLine(Steps{0, false, {5}, {}, {std::nan("")}}),
            R"({"type":"steps","first":0,"warmup":false,"step_ns":[5],"loss":["nan"]})");
  EXPECT_EQ(ToLine(Built{1, 2, 3, {}, {}, false}),
            R"({"type":"build","build_ns":1,"peak_rss_bytes":2,"planned_bytes":3,"choices":{}})");
  EXPECT_EQ(ToLine(Built{1, 2, 3, {}, {}, true}),
            R"({"type":"build","build_ns":1,"peak_rss_bytes":2,"planned_bytes":3,"choices":{},)"
            R"("gradients_materialized":true})");
  EXPECT_EQ(ToLine(Done{false, 1, 2, 3}),
            R"({"type":"result","converged":false,"peak_rss_bytes":1,"cpu_ns":2,"wall_ns":3})");
  EXPECT_EQ(ToLine(Failure{ErrorKind::kOutOfMemory, "full"}),
            R"({"type":"error","kind":"out_of_memory","message":"full"})");
}

TEST(MessageTest, ALineNeverHoldsALineBreakOrBrokenUtf8) {
  const std::string line = ToLine(Failure{ErrorKind::kFailed, "two\nlines \xff\xfe"});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(std::get<Failure>(*ParseMessage(line)).message, "two\nlines \xef\xbf\xbd\xef\xbf\xbd");
}

TEST(MessageTest, NewerPeersMaySayMore) {
  EXPECT_EQ(ErrorOf(R"({"type":"result","converged":true,"energy_uj":5})"), "no error");
}

TEST(MessageTest, OnlyWhatCannotBeGuessedIsRequired) {
  EXPECT_EQ(ErrorOf(R"({"type":"build","build_ns":1})"), "no error");
  EXPECT_EQ(ErrorOf(R"({"type":"steps","first":0,"step_ns":[1],"loss":[1]})"), "no error");
  EXPECT_EQ(ErrorOf(R"({"type":"error","message":"x"})"), "no error");
  EXPECT_EQ(ErrorOf(R"({"type":"build"})"), "build.build_ns: is missing");
  EXPECT_EQ(ErrorOf(R"({"type":"result"})"), "result.converged: is missing");
  EXPECT_EQ(ErrorOf(R"({"type":"error"})"), "error.message: is missing");
}

struct BadLine {
  std::string line, message;
};

class BadLineTest : public testing::TestWithParam<BadLine> {};

TEST_P(BadLineTest, IsRefusedWithTheReason) {
  EXPECT_THAT(ErrorOf(GetParam().line), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadLineTest,
    testing::Values(
        BadLine{"", "message:1:1: "}, BadLine{"garbage", "message:1:1: "},
        BadLine{"[]", "message: must be an object"},
        BadLine{R"({"type":"steps","first":0)", "message:1:"},
        BadLine{"{}", "message.type: is missing"},
        BadLine{R"({"type":7})", "message.type: must be a string, not 7"},
        BadLine{R"({"type":"step"})", "unknown type 'step'; did you mean 'steps'?"},
        BadLine{R"({"type":"steps","first":0,"step_ns":[1,2],"loss":[1]})",
                "steps.loss: has 1 values for 2 steps"},
        BadLine{R"({"type":"steps","first":0,"step_ns":[1],"loss":[1],"input_ns":[1,2]})",
                "steps.input_ns: has 2 values for 1 steps"},
        BadLine{R"({"type":"steps","first":0,"step_ns":[-1],"loss":[1]})",
                "steps.step_ns[0]: must be an integer from 0"},
        BadLine{R"({"type":"steps","first":0,"step_ns":[1e30],"loss":[1]})",
                "steps.step_ns[0]: must be an integer"},
        BadLine{R"({"type":"steps","first":0,"step_ns":[9223372036854775807],"loss":[1]})",
                "steps.step_ns[0]: must be an integer"},
        BadLine{R"({"type":"steps","first":-1,"step_ns":[],"loss":[]})",
                "steps.first: must be an integer from 0"},
        BadLine{R"({"type":"steps","first":0,"step_ns":[1],"loss":["NaN"]})",
                "steps.loss[0]: must be a number"},
        BadLine{R"({"type":"steps","first":0,"step_ns":[1],"loss":[null]})",
                "steps.loss[0]: must be a number"},
        BadLine{R"({"type":"error","kind":"tired","message":"x"})",
                "error.kind: must be failed, unsupported or out_of_memory"},
        BadLine{R"({"type":"hello"})", "hello.worker: is missing"},
        BadLine{R"({"type":"hello","worker":{"protocol":1}})", "hello.worker.name: is missing"},
        BadLine{R"({"type":"hello","worker":{"protocol":"1"}})",
                "hello.worker.protocol: must be an integer"},
        BadLine{R"({"type":"result","converged":"yes"})",
                "result.converged: must be true or false"}));

TEST(MessageTest, ALineThatIsTooLongIsNotEvenParsed) {
  EXPECT_THAT(ErrorOf(std::string(kMaxLineBytes + 1, ' ')), HasSubstr("8388608 are allowed"));
}

TEST(MessageTest, AnotherProtocolVersionIsNamedTogetherWithOurs) {
  EXPECT_EQ(ErrorOf(R"({"type":"hello","worker":{"protocol":2,"anything":"else"}})"),
            "hello.worker.protocol: version 2 is not supported; this side has version 1");
  EXPECT_EQ(
      ParseDescription(R"({"protocol":0})", "tench-worker-x").error().message,
      "tench-worker-x: description.protocol: version 0 is not supported; this side has version 1");
}

// Seeds named "good" must parse, or the fuzzer starts from useless inputs.
TEST(CorpusTest, SeedsAreGoodOrBadAsTheirNamesSay) {
  size_t seen = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(TENCH_SOURCE_DIR "/fuzz/corpus/protocol")) {
    const std::string text = *ReadFile(entry.path());
    const bool read = ParseMessage(text).ok() || ParseJob(text, "job").ok() ||
                      ParseDescription(text, "worker").ok();
    EXPECT_EQ(read, entry.path().filename().string().starts_with("ok_"))
        << entry.path() << ": " << ErrorOf(text);
    ++seen;
  }
  EXPECT_GE(seen, 20u);
}

TEST(DescriptionTest, ComesBackWhole) {
  const std::string text = PrintJson(ToJson(Reference()));
  const auto parsed = ParseDescription(text, "x");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(PrintJson(ToJson(*parsed)), text);
}

TEST(DescriptionTest, AWorkerIsAFrameworkUnlessItSaysOtherwise) {
  Json json = ToJson(Reference());
  json.erase("role");
  EXPECT_EQ(ParseDescription(PrintJson(json), "x")->role, Role::kFramework);
  json["role"] = "baseline";
  EXPECT_EQ(ParseDescription(PrintJson(json), "x")->role, Role::kBaseline);
  json["role"] = "winner";
  EXPECT_THAT(ParseDescription(PrintJson(json), "x").error().message,
              testing::HasSubstr("x: description.role: "));
}

TEST(DescriptionTest, NeedsANameAndNamesTheBadOption) {
  Description nameless = Reference();
  nameless.name = "";
  EXPECT_EQ(ParseDescription(PrintJson(ToJson(nameless)), "x").error().message,
            "x: description.name: is empty");
  Json json = ToJson(Reference());
  json["options"][0]["choices"] = "nchw";
  EXPECT_EQ(ParseDescription(PrintJson(json), "x").error().message,
            "x: description.options[0].choices: must be an array, not \"nchw\"");
}

TEST(MessageTest, AnEvaluationComesBackWhole) {
  const Evaluation sent{62, 1000, 0.25, 0.5, {}, 77};
  EXPECT_EQ(Back(sent), sent);
  EXPECT_EQ(Back(Evaluation{0, 1, kInf, {}, {}}).loss, kInf);
  EXPECT_THAT(ErrorOf(R"({"type":"evaluation","step":1,"samples":1,"loss":1,"top1":1.5})"),
              HasSubstr("evaluation.top1: must be a share from 0 to 1"));
  EXPECT_THAT(ErrorOf(R"({"type":"evaluation","step":1,"samples":0,"loss":1})"),
              HasSubstr("evaluation.samples: must be an integer from 1"));
}

TEST(MessageTest, TheLoadersWorkComesBackWhole) {
  Done done{true, 1, 2, 3};
  EXPECT_EQ(ToLine(done).find("loading_ns"), std::string::npos);
  done.loaded_samples = 64;
  done.loading_ns = 12'345;
  EXPECT_EQ(Back(done).loaded_samples, 64);
  EXPECT_EQ(Back(done).loading_ns, 12'345);
}

}  // namespace
}  // namespace tench::message_test
