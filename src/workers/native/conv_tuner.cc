// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv_tuner.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/clock.h"
#include "workers/native/aligned_block.h"
#include "workers/native/lowering.h"

namespace tench::native {
namespace {

constexpr int64_t kEnoughNs = 60'000'000;   // of runs of one candidate
constexpr int kMaxRuns = 6;
constexpr int kMinRuns = 2;
constexpr int64_t kMargin = 32;             // a later candidate has to be faster by this part
constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 16;   // sums of a few do not overflow
constexpr int64_t kBudgetNs = 60'000'000'000;   // of all measurements of a build; what is left then takes oneDNN's choice
constexpr int kPatience = 3;                // disturbed choices after which the machine counts as too busy to measure on

// A quiet machine interrupts now and then; one that shares its CPUs does so every few milliseconds.
constexpr int64_t kUsualDisturbances = 1;
constexpr int64_t kUsualPeriodNs = 20'000'000;

// How often the system took a CPU away from us: what was measured meanwhile says more about the others.
int64_t Disturbances() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

// Memory of a candidate's own, filled with small numbers: zeros and denormals would be faster or slower than real ones.
struct Trial {
  const dnnl::engine& engine;
  std::vector<AlignedBlock> blocks;

  dnnl::memory Make(const Md& md, bool filled = true) {
    Result<AlignedBlock> block = AlignedBlock::Make(static_cast<int64_t>(md.get_size()));
    if (!block) throw dnnl::error(dnnl_out_of_memory, "no memory to try a convolution");
    float* data = reinterpret_cast<float*>(block->data());
    for (int64_t i = 0; filled && i < block->bytes() / 4; ++i) data[i] = 0.01f * static_cast<float>(i % 13) - 0.05f;
    blocks.push_back(*std::move(block));
    return {md, engine, blocks.back().data()};
  }
};

// The shortest undisturbed run, or kNever if there was none.
template <class Run>
int64_t FastestNs(const Run& run, int64_t hopeless_ns) {
  int64_t best = kNever, spent = 0;
  for (int i = 0; i < kMaxRuns && (i < kMinRuns || spent < kEnoughNs || best == kNever); ++i) {
    const int64_t begin = NowNs(), before = Disturbances();
    run();
    const int64_t time = NowNs() - begin;
    if (Disturbances() - before <= kUsualDisturbances + time / kUsualPeriodNs) best = std::min(best, time);
    spent += time;
    if (best < kNever && time > hopeless_ns) break;
  }
  return best;
}

const char* Name(ConvDirection direction) {
  switch (direction) {
    case ConvDirection::kForward: return "forward";
    case ConvDirection::kBackwardData: return "backward_data";
    default: return "backward_weights";
  }
}

}  // namespace

ConvTuner::ConvTuner(const dnnl::engine& engine, TuneMode mode, int64_t threads, TunerCache cache)
    : engine_(engine), stream_(engine), mode_(mode), threads_(threads), cache_(std::move(cache)) {}

ConvKernel ConvTuner::Choose(const ConvShape& shape, ConvDirection direction, const Md& home_weights) {
  if (forced_ >= 0) {
    std::vector<ConvKernel> kernels = EnumerateConv(shape, direction, home_weights, engine_);
    return kernels[forced_ % kernels.size()];
  }
  if (mode_ == TuneMode::kOff) {
    // Most often the first of the first family will do, and the others need not be asked for.
    std::vector<ConvKernel> first = EnumerateConv(shape, direction, home_weights, engine_, "blocked/0");
    return first.empty() || IsPortable(first.front()) ? EnumerateConv(shape, direction, home_weights, engine_).front() : first.front();
  }
  const std::string key = fmt::format("{} {}_t{}_f32{}", Name(direction), shape.Key(), threads_, shape.training ? "" : "_inference");
  std::optional<std::string> known = mode_ == TuneMode::kCache ? cache_.Find(key) : std::nullopt;
  if (const auto found = fresh_.find(key); found != fresh_.end()) known = found->second;
  if (known) {
    std::vector<ConvKernel> kernels = EnumerateConv(shape, direction, home_weights, engine_, *known);
    if (!kernels.empty()) return kernels.front();
  }
  std::vector<ConvKernel> kernels = EnumerateConv(shape, direction, home_weights, engine_);
  const bool spent = mode_ != TuneMode::kFull && spent_ns_ > kBudgetNs;
  if (kernels.size() == 1 || disturbed_ >= kPatience || spent) return kernels.front();
  const int64_t begin_ns = NowNs();
  size_t best = 0;
  int64_t best_ns = kNever;
  bool sure = true;
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (i > 0 && IsPortable(kernels[i])) break;   // they come last, and never win
    const int64_t time_ns = Measure(shape, direction, kernels[i], home_weights, best_ns);
    sure = sure && time_ns < kNever;
    // Noise alone should not lead away from the common layout, which neighbours share.
    if (time_ns < best_ns - best_ns / kMargin) best = i, best_ns = time_ns;
  }
  spent_ns_ += NowNs() - begin_ns;
  fresh_[key] = kernels[best].id;
  // What was measured between others' work is good enough for now, but not to be remembered.
  if (sure) {
    cache_.Remember(key, kernels[best].id);
  } else {
    ++disturbed_;
  }
  return kernels[best];
}

int64_t ConvTuner::Measure(const ConvShape& shape, ConvDirection direction, const ConvKernel& kernel, const Md& home_weights,
                           int64_t best_ns) {
  ++measured_;
  Trial trial{engine_, {}};
  const dnnl::memory in = trial.Make(kernel.in), out = trial.Make(kernel.out), weights = trial.Make(kernel.weights);
  std::unordered_map<int, dnnl::memory> arguments;
  // A flipped kernel is a backward-data primitive whose gradient of the output is our input.
  if (kernel.flipped) {
    arguments = {{DNNL_ARG_DIFF_DST, in}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_SRC, out}};
  } else if (direction == ConvDirection::kForward) {
    arguments = {{DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, out}};
    if (!kernel.bias.is_zero()) arguments[DNNL_ARG_BIAS] = trial.Make(kernel.bias);
  } else if (direction == ConvDirection::kBackwardData) {
    arguments = {{DNNL_ARG_DIFF_SRC, in}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_DST, out}};
  } else {
    arguments = {{DNNL_ARG_SRC, in}, {DNNL_ARG_DIFF_WEIGHTS, weights}, {DNNL_ARG_DIFF_DST, out}};
    if (!kernel.bias.is_zero()) arguments[DNNL_ARG_DIFF_BIAS] = trial.Make(kernel.bias);
  }
  if (kernel.scratchpad.get_size() > 0) arguments[DNNL_ARG_SCRATCHPAD] = trial.Make(kernel.scratchpad, false);
  const dnnl::primitive primitive = kernel.make();
  int64_t total_ns = FastestNs([&] { primitive.execute(stream_, arguments), stream_.wait(); }, best_ns + best_ns / 4);
  if (total_ns >= kNever) return kNever;

  const auto add_reorder = [&](const Md& from, const Md& to, const dnnl::memory& memory) {
    if (from == to || total_ns > best_ns) return;
    dnnl::memory other = trial.Make(memory.get_desc() == to ? from : to);
    dnnl::memory source = memory.get_desc() == from ? memory : other, target = memory.get_desc() == from ? other : memory;
    const dnnl::reorder reorder(dnnl::reorder::primitive_desc(engine_, from, engine_, to));
    total_ns += FastestNs([&] { reorder.execute(stream_, source, target), stream_.wait(); }, best_ns);
  };
  const Md home_in = HomeMd(shape.in), home_out = HomeMd(shape.out);
  const bool data_first = direction != ConvDirection::kBackwardData;
  add_reorder(data_first ? home_in : kernel.in, data_first ? kernel.in : home_in, in);
  const bool out_is_result = direction == ConvDirection::kForward;
  add_reorder(out_is_result ? kernel.out : home_out, out_is_result ? home_out : kernel.out, out);
  if (kernel.flipped) {
    const dnnl::memory plain = trial.Make(home_weights);
    const Shape& o = shape.out;
    float* values = static_cast<float*>(out.get_data_handle());
    total_ns += FastestNs([&] { FlipWeights(home_weights, static_cast<float*>(plain.get_data_handle()),
                                            static_cast<float*>(weights.get_data_handle())); }, best_ns);
    if (shape.op.bias || shape.activation != Activation::kNone) {
      const std::vector<float> bias(o[1]);
      total_ns += FastestNs([&] { AddBias(values, bias.data(), o[0], o[1], o[2] * o[3], ChannelBlock(), shape.activation); }, best_ns);
    }
  } else if (!home_weights.is_zero() && direction != ConvDirection::kBackwardWeights) {
    add_reorder(home_weights, kernel.weights, weights);
  }
  return std::min(total_ns, kNever);
}

}  // namespace tench::native
