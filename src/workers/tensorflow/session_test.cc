// SPDX-License-Identifier: Apache-2.0
#include "workers/tensorflow/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "workers/tensorflow/inter_op.h"
#include "workers/tensorflow/window.h"

namespace tench::tensorflow::session_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SessionTest : public testing::Test {
 protected:
  std::vector<float> Fetch(Session& session, TF_Output output) {
    RunRequest request;
    request.fetches = {output};
    const auto tensors = session.Run(request);
    EXPECT_TRUE(tensors.ok()) << (tensors.ok() ? "" : tensors.error().message);
    if (!tensors.ok()) return {};
    const auto* data = static_cast<const float*>(api.TensorData((*tensors)[0].get()));
    return {data, data + api.TensorByteSize((*tensors)[0].get()) / sizeof(float)};
  }
  TF_Output Vector(std::vector<float> values) {
    return writer.Constant(std::span<const float>(values), {static_cast<int64_t>(values.size())});
  }

  const CApi api = *OpenTensorFlow(TensorFlowRoot({}));
  GraphWriter writer{api, ""};
};

TEST_F(SessionTest, ComputesWhatTheWriterWrote) {
  const TF_Output sum = writer.Add("AddV2").In(Vector({1, 2})).In(Vector({10, 20})).Output();
  ASSERT_TRUE(writer.status().ok());
  Session session = *Session::Open(writer, {});
  EXPECT_THAT(Fetch(session, sum), ElementsAre(11, 22));
}

TEST_F(SessionTest, ATracedRunAlsoReturnsItsMetadata) {
  const TF_Output sum = writer.Add("AddV2").In(Vector({1})).In(Vector({2})).Output();
  Session session = *Session::Open(writer, {});
  RunRequest request;
  request.fetches = {sum};
  std::string metadata;
  ASSERT_TRUE(session.RunTraced(request, metadata).ok());
  EXPECT_THAT(metadata, HasSubstr("AddV2"));
}

TEST_F(SessionTest, AFailedRunIsAnErrorAndTheSessionGoesOn) {
  const TF_Output placeholder = writer.Add("Placeholder").Type("dtype", TF_FLOAT).Output();
  const TF_Output product = writer.Add("Mul").In(placeholder).In(writer.Scalar(2.0f)).Output();
  const TF_Output constant = writer.Scalar(3.0f);
  Session session = *Session::Open(writer, {});
  RunRequest request;
  request.fetches = {product};
  const auto unfed = session.Run(request);
  ASSERT_FALSE(unfed.ok());
  EXPECT_THAT(unfed.error().message, testing::StartsWith("TensorFlow: "));
  EXPECT_EQ(unfed.error().message.find('\n'), std::string::npos);
  EXPECT_EQ(unfed.error().kind, ErrorKind::kFailed);
  EXPECT_THAT(Fetch(session, constant), ElementsAre(3));
}

TEST_F(SessionTest, ACpuSessionSeesNoGpu) {
  Session session = *Session::Open(writer, {1, 1, false});
  EXPECT_EQ(*session.CountGpus(), 0);
}

TEST_F(SessionTest, TheFirstErrorOfAWriterSticksAndNamesItsScope) {
  writer.SetScope("f.1.conv one");
  const TF_Output wrong = writer.Add("NoSuchOp").Output();
  EXPECT_EQ(wrong.oper, nullptr);
  ASSERT_FALSE(writer.status().ok());
  const std::string message = writer.status().error().message;
  EXPECT_THAT(message, testing::AllOf(HasSubstr("f.1.conv_one"), HasSubstr("NoSuchOp")));
  writer.SetScope("f.2.fc");
  writer.Add("Relu").In(wrong).Output();
  EXPECT_EQ(writer.status().error().message, message);
}

TEST_F(SessionTest, NodesOfOneLabelGetNamesOfTheirOwn) {
  writer.SetScope("f.1.fc");
  const TF_Output a = writer.Add("NoOp", "x").Output(), b = writer.Add("NoOp", "x").Output();
  EXPECT_STREQ(api.OperationName(a.oper), "f.1.fc/x");
  EXPECT_STREQ(api.OperationName(b.oper), "f.1.fc/x_1");
}

TEST_F(SessionTest, GradientsComeFromTensorFlow) {
  const TF_Output x = Vector({1, 2, 3});
  const TF_Output square = writer.Add("Square").In(x).Output();
  const TF_Output gradient = writer.Gradient(square, Vector({1, 10, 100}), x);
  ASSERT_TRUE(writer.status().ok());
  Session session = *Session::Open(writer, {});
  EXPECT_THAT(Fetch(session, gradient), ElementsAre(2, 40, 600));
}

TEST_F(SessionTest, KnowsTheNodesThatATargetNeedsAndThoseThatReadAnOutput) {
  const TF_Output x = Vector({1}), y = Vector({2});
  const TF_Output sum = writer.Add("AddV2").In(x).In(x).Output();
  const TF_Output after = writer.Add("Identity").In(sum).After(y.oper).Output();
  TF_Operation* const target = after.oper;
  EXPECT_EQ(writer.Needed({&target, 1}),
            (std::set<const TF_Operation*>{x.oper, y.oper, sum.oper, after.oper}));
  EXPECT_THAT(writer.Consumers(x), ElementsAre(sum.oper, sum.oper));
}

TEST_F(SessionTest, PadsAnImageOnTheSidesThatItsWindowsReach) {
  const std::vector<float> pixels{1, 2, 3, 4};
  const TF_Output image = writer.Constant(std::span<const float>(pixels), {1, 2, 2, 1});
  // One row before; one column behind, which ceil mode adds.
  const Plane plane{{2, 2, 2, 1, 1}, {2, 2, 2, 1, 0}};
  EXPECT_EQ(plane.explicit_paddings(), (Dims{0, 0, 1, 0, 0, 1, 0, 0}));
  const TF_Output padded = PadImage(writer, image, plane, 0),
                  lowest = PadImage(writer, image, plane, -9);
  Session session = *Session::Open(writer, {});
  EXPECT_THAT(Fetch(session, padded), ElementsAre(0, 0, 0, 1, 2, 0, 3, 4, 0));
  EXPECT_THAT(Fetch(session, lowest), ElementsAre(-9, -9, -9, 1, 2, -9, 3, 4, -9));
}

TEST(InterOpTest, ReadsNumbersTheJobsThreadsAndTheCaller) {
  EXPECT_EQ(*ParseInterOp("auto", 6), 6);
  EXPECT_EQ(*ParseInterOp("caller", 6), kInCaller);
  EXPECT_EQ(*ParseInterOp("1024", 6), 1024);
  for (const std::string text : {"0", "-1", "1025", "", "many"}) {
    const Result<int64_t> read = ParseInterOp(text, 6);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().kind, ErrorKind::kUnsupported);
  }
  EXPECT_EQ(InterOpName(kInCaller), "caller");
  EXPECT_EQ(InterOpName(3), "3");
}

}  // namespace
}  // namespace tench::tensorflow::session_test
