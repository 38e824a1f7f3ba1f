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

TEST_F(BatchServerTest, EndsWhenTheWorkerIsGone) {
  std::istringstream requests(PrintJson(ToJson(job)) + "\n0\n");
  const Fd nobody(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(ServeBatches(requests, nobody).ok());
}

}  // namespace
}  // namespace tench::batch_server_test
