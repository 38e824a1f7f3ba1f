// SPDX-License-Identifier: Apache-2.0
#include "workers/native/program/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "workers/native/program/layout.h"

namespace tench::native::program_test {
namespace {

using testing::HasSubstr;

constexpr int64_t kPlenty = int64_t{1} << 40;

struct ProgramTest : testing::Test {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  Program program;
  RunState state;

  Tensor Vector(int64_t count, Place place = Place::kArena) {
    const Md md = PlainMd({count});
    return {program.AddBuffer({static_cast<int64_t>(md.get_size()), place}), md};
  }
  void Kernel(const std::vector<Tensor>& tensors, StepFunction kernel) {
    Step step;
    step.name = "kernel";
    for (const Tensor& tensor : tensors) step.arguments.push_back({0, tensor});
    step.kernel = std::move(kernel);
    program.AddStep(std::move(step));
  }
};

TEST_F(ProgramTest, RunsStepsInOrderOnTheirArguments) {
  const Tensor a = Vector(4, Place::kPersistent), b = Vector(4, Place::kPersistent);
  Kernel({a}, [](std::span<float* const> p, RunState& s) { p[0][0] = static_cast<float>(s.lr); });
  Kernel({b, a}, [](std::span<float* const> p, RunState& s) {
    p[0][1] = 2 * p[1][0];
    s.losses.push_back(p[0][1]);
  });
  ASSERT_TRUE(program.Bind(engine, kPlenty).ok());
  state.lr = 1.5;
  program.Run(stream, state);
  EXPECT_EQ(program.Address(b)[1], 3);
  EXPECT_EQ(state.losses, std::vector<double>{3});
  EXPECT_EQ(program.steps().size(), 2u);
}

TEST_F(ProgramTest, RunsAPrimitiveOnItsBuffers) {
  const Md plain = PlainMd({2, 3}),
           transposed({2, 3}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ba);
  const Tensor from{program.AddBuffer({24, Place::kPersistent}), plain},
      to{program.AddBuffer({24, Place::kPersistent}), transposed};
  const dnnl::reorder::primitive_desc pd(engine, plain, engine, transposed);
  Step step;
  step.primitive = dnnl::reorder(pd);
  step.arguments = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
  program.AddStep(step);
  ASSERT_TRUE(program.Bind(engine, kPlenty).ok());
  for (int i = 0; i < 6; ++i) program.Address(from)[i] = static_cast<float>(i);
  program.Run(stream, state);
  const std::vector<float> expected = {0, 3, 1, 4, 2, 5};
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), program.Address(to)));
}

TEST_F(ProgramTest, ArenaBuffersOfDisjointLifetimesShareBytesAndPersistentOnesNever) {
  const auto nothing = [](std::span<float* const>, RunState&) {};
  const Tensor a = Vector(1024), b = Vector(1024), c = Vector(1024, Place::kPersistent),
               d = Vector(16, Place::kPersistent);
  Kernel({a, c}, nothing);
  Kernel({b, d}, nothing);
  ASSERT_TRUE(program.Bind(engine, kPlenty).ok());
  EXPECT_EQ(program.Address(a), program.Address(b));
  EXPECT_EQ(program.arena_bytes(), 4096);
  EXPECT_EQ(program.planned_bytes(), 4096 + 4096 + 64);
  EXPECT_NE(program.Address(c), program.Address(d));
}

TEST_F(ProgramTest, BuffersOfOneStepDoNotShare) {
  const Tensor a = Vector(1024), b = Vector(1024);
  Kernel({a, b}, [](std::span<float* const>, RunState&) {});
  ASSERT_TRUE(program.Bind(engine, kPlenty).ok());
  EXPECT_EQ(program.arena_bytes(), 8192);
}

TEST_F(ProgramTest, AnAddressIncludesTheOffsetOfAView) {
  const Md whole = PlainMd({1, 6});
  const Tensor tensor{program.AddBuffer({24, Place::kPersistent}), whole};
  const Tensor view{tensor.buffer, whole.submemory_desc({1, 2}, {0, 4})};
  float* seen = nullptr;
  Kernel({view}, [&](std::span<float* const> p, RunState&) { seen = p[0]; });
  ASSERT_TRUE(program.Bind(engine, kPlenty).ok());
  EXPECT_EQ(program.Address(view), program.Address(tensor) + 4);
  program.Run(stream, state);
  EXPECT_EQ(seen, program.Address(view));
}

TEST_F(ProgramTest, APlanBeyondTheAvailableMemoryIsOutOfMemory) {
  const Tensor a = Vector(1024), b = Vector(1024, Place::kPersistent);
  Kernel({a, b}, [](std::span<float* const>, RunState&) {});
  const Status bound = program.Bind(engine, 8191);
  ASSERT_FALSE(bound.ok());
  EXPECT_EQ(bound.error().kind, ErrorKind::kOutOfMemory);
  EXPECT_THAT(bound.error().message, HasSubstr("8.0 KiB"));
  EXPECT_EQ(program.planned_bytes(), 0) << "nothing is allocated";
  EXPECT_TRUE(program.Bind(engine, 8192).ok());
}

TEST_F(ProgramTest, TimesEveryStepOnlyAfterStartProfile) {
  const Tensor a = Vector(8);
  volatile double sink = 0;
  Kernel({a}, [&](std::span<float* const>, RunState&) {
    for (int i = 0; i < 200'000; ++i) sink = sink + 1;
  });
  Kernel({a}, [](std::span<float* const>, RunState&) {});
  ASSERT_TRUE(program.Bind(engine, kPlenty).ok());
  program.Run(stream, state);
  EXPECT_TRUE(program.timings().empty());
  program.StartProfile();
  for (int i = 0; i < 3; ++i) program.Run(stream, state);
  ASSERT_EQ(program.timings().size(), 2u);
  EXPECT_EQ(program.timings()[0].calls, 3);
  EXPECT_EQ(program.timings()[1].calls, 3);
  EXPECT_GT(program.timings()[0].time_ns, program.timings()[1].time_ns);
}

TEST_F(ProgramTest, BytesAreThoseOfAllArguments) {
  Step step;
  step.arguments = {{0, Vector(10)}, {0, Vector(6)}};
  EXPECT_EQ(Program::Bytes(step), 64);
}

TEST(DirectionTest, NamesAreThoseOfTheProfile) {
  EXPECT_EQ(Name(Direction::kForward), "forward");
  EXPECT_EQ(Name(Direction::kBackwardData), "backward_data");
  EXPECT_EQ(Name(Direction::kBackwardWeights), "backward_weights");
  EXPECT_EQ(Name(Direction::kUpdate), "update");
}

}  // namespace
}  // namespace tench::native::program_test
