// SPDX-License-Identifier: Apache-2.0
// The whole program of a worker with a fake adapter in a child process, to test descriptors,
// signals and exit codes.
#include "worker/serve.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <stdexcept>

#include "base/file.h"
#include "base/text.h"
#include "net/builder.h"
#include "worker/fake_adapter.h"

namespace tench::serve_test {
namespace {

using testing::HasSubstr;

struct Answer {
  std::vector<std::string> lines;
  int code = -1;
};

using Make = std::function<std::unique_ptr<Adapter>()>;

// Runs Serve in a child with descriptor 3 open for its answers. `watch` may act while the child
// runs.
Answer Converse(const std::vector<std::string>& arguments, const Make& make,
                const std::function<void(pid_t, std::string& so_far)>& watch = {}) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    if (ends[1] != 3) dup2(ends[1], 3);
    std::vector<std::string> words = {"tench-worker-fake"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    _exit(Serve(static_cast<int>(argv.size()), argv.data(), make));
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(got));
    if (watch) watch(child, text);
  }
  close(ends[0]);
  Answer answer;
  int status = 0;
  waitpid(child, &status, 0);
  answer.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  answer.lines = Split(text, '\n');
  if (!answer.lines.empty() && answer.lines.back().empty()) answer.lines.pop_back();
  return answer;
}

Make Plain() {
  return [] { return std::make_unique<FakeAdapter>(); };
}

// An adapter with the given function as its step.
Make Stepping(std::function<Result<double>(int64_t)> step) {
  return [step] {
    auto adapter = std::make_unique<FakeAdapter>();
    adapter->on_step = step;
    return adapter;
  };
}

class ServeTest : public testing::Test {
 protected:
  ServeTest() {
    GraphBuilder b("small");
    b.Append("data", Input{InputRole::kData, {3}, {FillKind::kGaussian, 0, 1}}, {});
    b.Append("target", Input{InputRole::kData, {2}, {FillKind::kGaussian, 0, 1}}, {});
    b.Append("fc", FullyConnected{2}, {"data"}, {{FillKind::kGaussian, 0, 1}});
    b.Append("loss", MeanSquaredError{}, {"fc", "target"});
    job.network = b.Take();
    job.batch = 4;
    job.budget.warmup_steps = 1;
    job.budget.fixed_steps = 4;
  }

  std::string JobFile() const { return Write(ToJson(job).dump()); }
  std::string Write(std::string_view text) const {
    const std::string file = (folder.path() / "job.json").string();
    EXPECT_TRUE(WriteFileAtomically(file, text).ok());
    return file;
  }
  Answer RunJobWith(const Make& make) const { return Converse({"--job", JobFile()}, make); }

  Job job;
  TemporaryFolder folder = *TemporaryFolder::Make("serve-test");
};

template <class T>
T Parsed(const std::string& line) {
  const auto message = ParseMessage(line);
  EXPECT_TRUE(message.ok()) << line;
  const T* value = message.ok() ? std::get_if<T>(&*message) : nullptr;
  EXPECT_NE(value, nullptr) << line;
  return value != nullptr ? *value : T();
}

TEST_F(ServeTest, AnswersAJobFromHelloToResult) {
  const Answer answer = RunJobWith(Plain());
  EXPECT_EQ(answer.code, 0);
  ASSERT_EQ(answer.lines.size(), 5u);
  const Hello hello = Parsed<Hello>(answer.lines[0]);
  EXPECT_EQ(hello.worker.name, "fake");
  EXPECT_GT(hello.rss_bytes, 0);
  const Built built = Parsed<Built>(answer.lines[1]);
  EXPECT_EQ(built.planned_bytes, 123);
  EXPECT_GE(built.peak_rss_bytes, hello.rss_bytes / 2);
  EXPECT_TRUE(Parsed<Steps>(answer.lines[2]).warmup);
  EXPECT_EQ(Parsed<Steps>(answer.lines[3]).loss, (std::vector<double>{1, 2, 3, 4}));
  const Done done = Parsed<Done>(answer.lines[4]);
  EXPECT_TRUE(done.converged);
  EXPECT_GT(done.peak_rss_bytes, 0);
}

TEST_F(ServeTest, SaysThatGradientsAreMaterializedInPhaseGradientOnly) {
  for (const Phase phase : {Phase::kForward, Phase::kGradient, Phase::kTrain}) {
    job.phase = phase;
    const Answer answer = RunJobWith(Plain());
    ASSERT_GT(answer.lines.size(), 1u);
    EXPECT_EQ(Parsed<Built>(answer.lines[1]).gradients_materialized, phase == Phase::kGradient);
  }
}

// Its losses are the arguments of SetCycle.
class CyclingAdapter final : public FakeAdapter {
 public:
  Status SetCycle(int64_t samples, const BatchSource& batch) override {
    on_step = [samples, first = double{batch(1)[0].f32[0]}](int64_t step) -> Result<double> {
      return step % 2 == 0 ? static_cast<double>(samples) : first;
    };
    return Ok();
  }
  Status SetBatch(std::span<const HostTensor> inputs) override {
    EXPECT_EQ(inputs.size(), 2u);
    return Ok();
  }
};

TEST_F(ServeTest, TellsTheWholeCycleBeforehandWhereInputIsCycled) {
  const auto losses = [&] {
    const Answer answer = RunJobWith([] { return std::make_unique<CyclingAdapter>(); });
    return Parsed<Steps>(answer.lines[answer.lines.size() - 2]).loss;
  };
  job.cycled = true;
  job.images = 11;
  job.budget.warmup_steps = 0;
  job.budget.fixed_steps = 2;
  const std::vector<double> few = losses();
  ASSERT_EQ(few.size(), 2u);
  EXPECT_EQ(few[0], 8);  // two steps of four samples need no more
  job.budget.fixed_steps = 10;
  const std::vector<double> all = losses();
  EXPECT_EQ(all[0], 11);
  EXPECT_EQ(all[1], few[1]);
  EXPECT_NE(all[1], 0);
}

// Pretends that another process computes: this one.
class HelpedAdapter final : public FakeAdapter {
 public:
  explicit HelpedAdapter(pid_t helper) : helper_(helper) {}
  pid_t Helper() const override { return helper_; }

 private:
  pid_t helper_;
};

TEST_F(ServeTest, CountsTheHelpersMemory) {
  const Done alone = Parsed<Done>(RunJobWith(Plain()).lines.back());
  const Done helped = Parsed<Done>(RunJobWith([helper = getpid()] {
                                     return std::make_unique<HelpedAdapter>(helper);
                                   }).lines.back());
  EXPECT_GT(helped.peak_rss_bytes, alone.peak_rss_bytes * 3 / 2);
}

TEST_F(ServeTest, WritesTheTensorsThatAreAskedFor) {
  job.tensors.folder = (folder.path() / "out").string();
  job.tensors.outputs = {"fc"};
  job.tensors.gradients = job.tensors.parameters = true;
  EXPECT_EQ(RunJobWith(Plain()).code, 0);
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "out/outputs/fc.bin"), 4u);
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "out/gradients/fc.weight.bin"), 24u);
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "out/parameters/fc.bias.bin"), 8u);
}

TEST_F(ServeTest, TurnsAnUnparsableJobIntoAnErrorLine) {
  for (const std::string text : {"", "{", "[]", "\xff\xfe", "{\"protocol\": 1}"}) {
    const Answer answer = Converse({"--job", Write(text)}, Plain());
    EXPECT_EQ(answer.code, 0);
    ASSERT_EQ(answer.lines.size(), 1u) << text;
    EXPECT_EQ(Parsed<Failure>(answer.lines[0]).kind, ErrorKind::kFailed);
  }
  EXPECT_EQ(Converse({"--job", "/nonexistent/job"}, Plain()).lines.size(), 1u);
}

TEST_F(ServeTest, RefusesAnotherVersionOfTheProtocol) {
  Json json = ToJson(job);
  json["protocol"] = kProtocolVersion + 1;
  const Answer answer = Converse({"--job", Write(json.dump())}, Plain());
  ASSERT_EQ(answer.lines.size(), 1u);
  EXPECT_THAT(Parsed<Failure>(answer.lines[0]).message, HasSubstr("protocol"));
}

TEST_F(ServeTest, SaysHelloBeforeItRefusesAJob) {
  job.device = "gpu";
  const Answer answer = RunJobWith(Plain());
  EXPECT_EQ(answer.code, 0);
  ASSERT_EQ(answer.lines.size(), 2u);
  Parsed<Hello>(answer.lines[0]);
  EXPECT_EQ(Parsed<Failure>(answer.lines[1]).kind, ErrorKind::kUnsupported);
}

TEST_F(ServeTest, TurnsExceptionsIntoErrorLines) {
  struct Case {
    std::function<Result<double>(int64_t)> step;
    ErrorKind kind;
    std::string message;
  };
  const std::vector<Case> cases = {
      {[](int64_t) -> Result<double> { throw std::bad_alloc(); }, ErrorKind::kOutOfMemory,
       "out of memory"},
      {[](int64_t) -> Result<double> { throw std::runtime_error("no \xff such kernel"); },
       ErrorKind::kFailed, "such kernel"},
      {[](int64_t) -> Result<double> { throw 7; }, ErrorKind::kFailed, "unknown type"},
  };
  for (const Case& one : cases) {
    const Answer answer = RunJobWith(Stepping(one.step));
    EXPECT_EQ(answer.code, 0);
    const Failure failure = Parsed<Failure>(answer.lines.back());
    EXPECT_EQ(failure.kind, one.kind);
    EXPECT_THAT(failure.message, HasSubstr(one.message));
  }
}

TEST_F(ServeTest, SurvivesAnAdapterThatCannotBeMade) {
  const Answer answer =
      RunJobWith([]() -> std::unique_ptr<Adapter> { throw std::runtime_error("no licence"); });
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(Parsed<Failure>(answer.lines.back()).message, "no licence");
}

TEST_F(ServeTest, FinishesItsStepAndFlushesOnTerminate) {
  job.budget.warmup_steps = 0;
  job.budget.fixed_steps = 1'000'000;
  bool signalled = false;
  const Answer answer = Converse({"--job", JobFile()}, Stepping([](int64_t step) -> Result<double> {
                                   usleep(step == 0 ? 250'000 : 5'000);
                                   return 1.0;
                                 }),
                                 [&](pid_t child, std::string& so_far) {
                                   if (signalled || so_far.find("\"steps\"") == std::string::npos)
                                     return;
                                   signalled = true;
                                   usleep(30'000);
                                   kill(child, SIGTERM);
                                 });
  EXPECT_EQ(answer.code, 143);
  ASSERT_GE(answer.lines.size(), 4u);
  // Collected, and flushed before 0.2 s had passed.
  EXPECT_EQ(Parsed<Steps>(answer.lines.back()).first, 1);
}

TEST_F(ServeTest, WritesSnapshotsWhileTheStepsGoOn) {
  job.snapshots = {(folder.path() / "kept").string(), {2, 4}};
  EXPECT_EQ(RunJobWith(Plain()).code, 0);
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "kept/2/parameters/fc.weight.bin"), 24u);
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "kept/4/parameters/fc.weight.bin"), 24u);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "kept/4.part"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "kept/5"));
}

TEST_F(ServeTest, LeavesASnapshotWhenItIsAskedToStop) {
  job.budget.warmup_steps = 0;
  job.budget.fixed_steps = 1'000'000;
  job.snapshots = {(folder.path() / "kept").string(), {}};
  bool signalled = false;
  const Answer answer =
      Converse({"--job", JobFile()},
               Stepping([](int64_t) -> Result<double> { return usleep(250'000), 1.0; }),
               [&](pid_t child, std::string& so_far) {
                 if (signalled || so_far.find("\"steps\"") == std::string::npos) return;
                 signalled = true;
                 kill(child, SIGTERM);
               });
  EXPECT_EQ(answer.code, 143);
  const Steps last = Parsed<Steps>(answer.lines.back());
  const auto steps = last.first + static_cast<int64_t>(last.step_ns.size());
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "kept" / std::to_string(steps) /
                                      "parameters/fc.bias.bin"))
      << steps;
}

TEST_F(ServeTest, EndsAtOnceOnTerminateOutsideOfTheSteps) {
  const Answer answer = Converse(
      {"--job", JobFile()},
      [] {
        auto adapter = std::make_unique<FakeAdapter>();
        adapter->on_build = [](const BuildOptions&) { sleep(20); };
        return adapter;
      },
      [](pid_t child, std::string&) { kill(child, SIGTERM); });
  EXPECT_EQ(answer.code, 143);
  EXPECT_EQ(answer.lines.size(), 1u);
}

TEST_F(ServeTest, EndsQuietlyWhenItsReaderIsGone) {
  job.budget.fixed_steps = 1'000'000;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string file = JobFile();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    std::string fd = std::to_string(ends[1]);
    std::vector<std::string> words = {"worker", "--job", file, "--fd", fd};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    _exit(Serve(static_cast<int>(argv.size()), argv.data(), Stepping([](int64_t) -> Result<double> {
                  usleep(1000);
                  return 1.0;
                })));
  }
  close(ends[1]);
  close(ends[0]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST_F(ServeTest, KeepsAFrameworksChatterOutOfTheAnswers) {
  // Answers go to descriptor 1: prints of the adapter must not mix with them.
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const std::string file = JobFile();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    dup2(ends[1], STDOUT_FILENO);
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    close(ends[1]);
    std::vector<std::string> words = {"worker", "--job", file, "--fd", "1"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    _exit(Serve(static_cast<int>(argv.size()), argv.data(), Stepping([](int64_t) -> Result<double> {
                  if (write(STDOUT_FILENO, "chatter\n", 8) != 8) return Failed("no stdout");
                  return 1.0;
                })));
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_THAT(text, testing::Not(HasSubstr("chatter")));
  EXPECT_THAT(text, HasSubstr("\"result\""));
}

TEST_F(ServeTest, DescribesItself) {
  const Answer answer = Converse({"--describe", "--fd", "3"}, Plain());
  EXPECT_EQ(answer.code, 0);
  ASSERT_EQ(answer.lines.size(), 1u);
  EXPECT_EQ(ParseDescription(answer.lines[0], "test")->version, "1.2");
  EXPECT_THAT(Converse({"--version", "--fd", "3"}, Plain()).lines,
              testing::ElementsAre("tench-worker-fake 1.2 (protocol 1)"));
}

TEST_F(ServeTest, RefusesABadCommandLine) {
  const std::vector<std::vector<std::string>> bad = {{},
                                                     {"--job"},
                                                     {"--jbo", "x"},
                                                     {"--describe", "--job", "x"},
                                                     {"--describe", "--fd", "0"},
                                                     {"--describe", "--fd", "99"},
                                                     {"--describe", "--fd", "three"},
                                                     {"extra"}};
  for (const std::vector<std::string>& arguments : bad) {
    const Answer answer = Converse(arguments, Plain());
    EXPECT_EQ(answer.code, 2);
    EXPECT_TRUE(answer.lines.empty());
  }
}

}  // namespace
}  // namespace tench::serve_test
