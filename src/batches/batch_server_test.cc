// SPDX-License-Identifier: Apache-2.0
#include "batches/batch_server.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/json.h"
#include "net/builder.h"
#include "protocol/message.h"
#include "worker/job_input.h"
#include "worker/test_split.h"

namespace tench::batch_server_test {
namespace {

using testing::HasSubstr;

class BatchServerTest : public testing::Test {
 protected:
  BatchServerTest() {
    GraphBuilder b("small");
    b.Append("data", Input{InputRole::kData, {3, 1, 1}, {FillKind::kGaussian, 0, 1}}, {});
    b.Append("label", Input{InputRole::kLabel, {}, {FillKind::kInteger, 0, 4}}, {});
    b.Append("flat", Flatten{}, {"data"});
    b.Append("fc", FullyConnected{4}, {"flat"});
    b.Append("loss", SoftmaxCrossEntropy{}, {"fc", "label"});
    job.network = b.Take();
    job.batch = 2;
    job.images = 3;
    job.cycled = true;
    const std::string path = (folder.path() / "rows.csv").string();
    EXPECT_TRUE(WriteFileAtomically(path, "0.5,1,2,0\n3,4,5,1\n6,7,8,3\n").ok());
    job.data = "csv:" + path;
  }

  // All answers to the job and `steps`.
  std::string Serve(const std::string& steps) {
    const std::string path = (folder.path() / "answers").string();
    std::istringstream requests(PrintJson(ToJson(job)) + "\n" + steps);
    {
      const Fd answers(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
      served = ServeBatches(requests, answers);
    }
    return *ReadFile(path);
  }

  template <class T>
  static void Append(std::string& bytes, const std::vector<T>& values) {
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }

  TemporaryFolder folder = *TemporaryFolder::Make("batch-server-test");
  Job job;
  Status served = Ok();
};

TEST_F(BatchServerTest, SendsTheBatchesThatACppWorkerReads) {
  const TypedGraph graph = *Infer(job.network, job.batch);
  JobInput input = *JobInput::Open(job, graph);
  std::string expected = "{}\n";
  for (const int64_t step : {0, 3, 1}) {
    ASSERT_TRUE(input.MakeBatchOf(step).ok());
    expected += "{}\n";
    Append(expected, input.batch()[0].f32);
    Append(expected, input.batch()[1].i32);
  }
  EXPECT_EQ(Serve("0\n3\n1\n"), expected);
  EXPECT_TRUE(served.ok());
}

TEST_F(BatchServerTest, SendsOneErrorLineForDataThatDoesNotFit) {
  std::get<Input>(job.network.layers[0].op).shape = {5, 1, 1};
  EXPECT_THAT(Serve("0\n"), HasSubstr("{\"error\":"));
  EXPECT_FALSE(served.ok());
  job.data = "csv:/nowhere/rows.csv";
  EXPECT_THAT(Serve("0\n"), HasSubstr("/nowhere/rows.csv"));
}

TEST_F(BatchServerTest, RefusesWhatIsNoStep) {
  for (const std::string line : {"", "-1", "1x", "99999999999999999999"})
    EXPECT_THAT(Serve(line + "\n"), HasSubstr("is not the number of a step")) << line;
}

// Four classes and three samples: the second batch of two has one that does not count.
class EvaluationServerTest : public BatchServerTest {
 protected:
  EvaluationServerTest() { job.evaluation.data = job.data; }

  static std::string Score(const std::vector<float>& logits) {
    std::string request = "score 0.5\n";
    Append(request, logits);
    return request;
  }

  std::string Evaluate(const std::vector<float>& first, const std::vector<float>& second) {
    return "test 0\n" + Score(first) + "test 1\n" + Score(second);
  }

  // The answer without the batches' bytes.
  std::vector<std::string> LinesOf(const std::string& answer) {
    std::vector<std::string> lines;
    for (size_t at = answer.find('{'); at != std::string::npos; at = answer.find('{', at + 1))
      lines.push_back(answer.substr(at, answer.find('\n', at) - at));
    return lines;
  }
};

TEST_F(EvaluationServerTest, ScoresAreThoseOfACppWorker) {
  const std::vector<float> first = {1, 2, 3, 4, 4, 3, 2, 1}, second = {0, 0, 0, 9, 1, 1, 1, 1};
  TestSplit split = *TestSplit::Open(job);
  split.Begin();
  ASSERT_TRUE(split.Read(0).ok());
  ASSERT_TRUE(split.Add(0.5, first).ok());
  ASSERT_TRUE(split.Read(1).ok());
  ASSERT_TRUE(split.Add(0.5, second).ok());
  const std::vector<std::string> lines =
      LinesOf(Serve(Evaluate(first, second) + "0\n" + Evaluate(first, second)));
  EXPECT_TRUE(served.ok());
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines[0], R"({"batches":2,"logits":"fc"})");
  const Json scores = *ParseJson(lines[4], "scores");
  EXPECT_EQ(scores["samples"], 3);
  EXPECT_EQ(scores["loss"], split.Scores().loss);
  EXPECT_EQ(scores["top1"], *split.Scores().top1);
  EXPECT_FALSE(scores.contains("step"));
  EXPECT_EQ(lines[9], lines[4]) << "a second evaluation after a step";
}

TEST_F(EvaluationServerTest, RefusesATestBatchOutOfOrderAndScoresThatEndEarly) {
  EXPECT_THAT(Serve("test 1\n"), HasSubstr("'test 1' is not batch 0"));
  EXPECT_THAT(Serve("score 1\n"), HasSubstr("without a batch"));
  EXPECT_THAT(Serve("test 0\nscore 1\nabcd"), HasSubstr("end early"));
  EXPECT_THAT(Serve("test 0\nscore x\n"), HasSubstr("error"));
  EXPECT_FALSE(served.ok());
}

TEST_F(BatchServerTest, AJobWithoutEvaluationHasNoTestBatches) {
  EXPECT_THAT(Serve("test 0\n"), HasSubstr("is not the number of a step"));
}

TEST_F(BatchServerTest, EndsWhenTheWorkerIsGone) {
  std::istringstream requests(PrintJson(ToJson(job)) + "\n0\n");
  const Fd nobody(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(ServeBatches(requests, nobody).ok());
}

}  // namespace
}  // namespace tench::batch_server_test
