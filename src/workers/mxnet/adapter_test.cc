// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/adapter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/clock.h"
#include "base/file.h"
#include "net/builder.h"
#include "worker/adapter_run.h"
#include "worker/process_facts.h"
#include "workers/mxnet/network.h"

namespace tench::mxnet::adapter_test {
namespace {

using testing::HasSubstr;

TypedGraph Lenet(int64_t batch) { return *Infer(*LoadNetwork("lenet", "mnist", 0), batch); }

std::string BuildError(const std::filesystem::path& library) {
  const std::unique_ptr<Adapter> adapter = MakeMxnetAdapter(library);
  EXPECT_EQ(adapter->Describe().name, "mxnet");
  const Result<BuildFacts> built = adapter->Build(Lenet(1), {});
  EXPECT_FALSE(built.ok());
  if (built.ok()) return "";
  EXPECT_EQ(built.error().kind, ErrorKind::kUnsupported);
  EXPECT_EQ(built.error().message.find('\n'), std::string::npos);
  return built.error().message;
}

TEST(MxnetLibraryTest, AMissingOrBrokenLibraryIsOneLineThatNamesFileAndFix) {
  const TemporaryFolder folder = *TemporaryFolder::Make("tench-mxnet-test");
  EXPECT_THAT(BuildError(folder.path() / "libmxnet.so"),
              testing::AllOf(HasSubstr("libmxnet.so: no such library"), HasSubstr("deps/fetch")));
  std::ofstream(folder.path() / "libmxnet.so") << "no library";
  EXPECT_THAT(BuildError(folder.path() / "libmxnet.so"),
              testing::AllOf(HasSubstr("libmxnet.so"), HasSubstr("deps/fetch")));
  EXPECT_THAT(
      BuildError(Library::DefaultFile().parent_path() / "libgfortran.so.3"),
      testing::AllOf(HasSubstr("libgfortran.so.3 has no symbol MX"), HasSubstr("deps/fetch")));
}

TEST(MxnetLibraryTest, TheWheelsOwnBlasAndFortranAreTheOnesLoaded) {
  ASSERT_TRUE(Library::Open(Library::DefaultFile()).ok());
  const std::filesystem::path folder = Library::DefaultFile().parent_path();
  const std::vector<std::string> libraries = LoadedLibraries();
  for (const char* name : {"libmxnet.so", "libopenblas.so.0", "libgfortran.so.3"}) {
    EXPECT_THAT(libraries, testing::Contains((folder / name).string()));
    EXPECT_EQ(std::ranges::count_if(libraries,
                                    [&](const std::string& path) { return path.ends_with(name); }),
              1)
        << name;
  }
}

TEST(MxnetAdapterTest, RefusesOptionsThatAreNoNumbers) {
  const std::unique_ptr<Adapter> adapter = MakeMxnetAdapter(Library::DefaultFile());
  for (const std::string text : {"many", "-1", "99999999"}) {
    BuildOptions options;
    options.options = {{"bulk", text}};
    const Result<BuildFacts> built = adapter->Build(Lenet(1), options);
    ASSERT_FALSE(built.ok());
    EXPECT_THAT(built.error().message, HasSubstr("option bulk is '" + text + "'"));
  }
}

// The engine queues work: without the wait, a step would take only the time of the queueing. The
// test compares ratios of times only.
TEST(MxnetAdapterTest, AStepEndsOnlyWhenAllOfItsWorkIsDone) {
  const Library library = *Library::Open(Library::DefaultFile());
  const TypedGraph graph = Lenet(128);
  BuildOptions options;
  options.threads = 1;
  ApplySettings({});
  ASSERT_TRUE(SetThreads(library, {}, 1).ok());
  const std::unique_ptr<Network> network = *Network::Make(library, graph, options, {});
  int64_t queue_ns = 0, wait_ns = 0;
  for (int i = 0; i < 5; ++i) {
    const int64_t start_ns = NowNs();
    ASSERT_TRUE(network->Queue().ok());
    const int64_t queued_ns = NowNs();
    ASSERT_TRUE(Wait(library).ok());
    if (i == 0) continue;
    queue_ns += queued_ns - start_ns;
    wait_ns += NowNs() - queued_ns;
  }
  EXPECT_LT(queue_ns, wait_ns / 2) << "the engine is expected to be asynchronous";

  const std::unique_ptr<Adapter> adapter = MakeMxnetAdapter(Library::DefaultFile());
  ASSERT_TRUE(Prepare(*adapter, graph, options).ok());
  int64_t step_ns = 0, left_ns = 0;
  for (int i = 0; i < 5; ++i) {
    const int64_t start_ns = NowNs();
    ASSERT_TRUE(adapter->Step(Phase::kTrain).ok());
    const int64_t done_ns = NowNs();
    ASSERT_TRUE(Wait(library).ok());
    step_ns += done_ns - start_ns;
    left_ns += NowNs() - done_ns;
  }
  EXPECT_LT(left_ns, step_ns / 20) << "work was left over after a step";
}

TEST(MxnetAdapterTest, ComputesWithAsManyThreadsAsItIsTold) {
  const Library library = *Library::Open(Library::DefaultFile());
  struct Look {
    int (*count)();
    int seen = 0;
  };
  for (const int threads : {3, 1, 2}) {
    ASSERT_TRUE(SetThreads(library, {}, threads).ok());
    Look look{library->omp_get_max_threads};
    const auto run = [](void*, void* into) {
      static_cast<Look*>(into)->seen = static_cast<Look*>(into)->count();
    };
    const Device cpu;
    ASSERT_EQ(library->MXEnginePushSync(run, &look, nullptr, &cpu, nullptr, 0, nullptr, 0, nullptr,
                                        0, "look"),
              0);
    ASSERT_TRUE(Wait(library).ok());
    EXPECT_EQ(look.seen, threads);
  }
}

TEST(MxnetAdapterTest, DropoutZeroesItsShareAndFollowsTheSeed) {
  GraphBuilder b("drop");
  b.Append("data", Input{InputRole::kData, {2000}, {FillKind::kConstant, 1, 0}}, {});
  b.Append("fc", FullyConnected{2000}, {"data"}, {{FillKind::kConstant, 0.001, 0}});
  b.Append("drop", Dropout{0.3}, {"fc"});
  b.Append("loss", MeanSquaredError{}, {"drop", "data"});
  const TypedGraph graph = *Infer(b.Take(), 4);
  const auto dropped = [&](uint64_t seed) {
    BuildOptions options;
    options.phase = Phase::kGradient;
    options.observe = true;
    options.seed = seed;
    const std::unique_ptr<Adapter> adapter = MakeMxnetAdapter(Library::DefaultFile());
    EXPECT_TRUE(Prepare(*adapter, graph, options).ok());
    EXPECT_TRUE(adapter->Step(Phase::kGradient).ok());
    Tensors tensors;
    EXPECT_TRUE(adapter->Outputs(std::vector<std::string>{"drop", "fc"}, Into(tensors)).ok());
    return tensors;
  };
  const Tensors first = dropped(1), second = dropped(2), again = dropped(1);
  const double zeros = static_cast<double>(std::ranges::count(first.at("drop"), 0.0f)) / 8000;
  EXPECT_NEAR(zeros, 0.3, 3 * std::sqrt(0.3 * 0.7 / 8000));
  EXPECT_NEAR(*std::ranges::max_element(first.at("drop")), first.at("fc")[0] / 0.7, 1e-5);
  EXPECT_NE(first.at("drop"), second.at("drop"));
  EXPECT_EQ(first.at("drop"), again.at("drop"));
}

TEST(MxnetAdapterTest, GivesBackTheStateThatItWasGiven) {
  const std::unique_ptr<Adapter> adapter = MakeMxnetAdapter(Library::DefaultFile());
  GraphBuilder b("state");
  b.Append("data", Input{InputRole::kData, {6}, {FillKind::kUniform, -1, 1}}, {});
  b.Append("bn", BatchNorm{}, {"data"}, {{FillKind::kConstant, 1, 0}});
  b.Append("loss", MeanSquaredError{}, {"bn", "data"});
  ASSERT_TRUE(Prepare(*adapter, *Infer(b.Take(), 4), {}).ok());
  const TensorSource source = [](const std::string& name, std::span<float> out) -> Status {
    std::ranges::fill(out, name.ends_with(".momentum") ? 0.25f : 3.0f);
    return Ok();
  };
  ASSERT_TRUE(adapter->SetState(source).ok());
  Tensors state;
  ASSERT_TRUE(adapter->State(Into(state)).ok());
  EXPECT_EQ(state.size(), 4u);
  EXPECT_FLOAT_EQ(state.at("bn.running_var")[0], 3);
  EXPECT_FLOAT_EQ(state.at("bn.running_mean")[5], 3);
  EXPECT_FLOAT_EQ(state.at("bn.weight.momentum")[2], 0.25);
}

}  // namespace
}  // namespace tench::mxnet::adapter_test
