// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/conv_trial.h"

#include <sys/resource.h>

#include <algorithm>
#include <iterator>

#include "base/clock.h"
#include "workers/native/kernels/parallel.h"
#include "workers/native/kernels/pointwise.h"
#include "workers/native/program/layout.h"

namespace tench::native {
namespace {

constexpr int64_t kEnoughNs = 60'000'000;  // of runs of the best candidate
constexpr int kMinRounds = 5;
constexpr int kMaxRounds = 120;
// Times the best at which a candidate leaves. The first rounds meet cold code and cold memory, and
// one bad moment should not decide.
constexpr double kHopeless[] = {4.0, 2.0, 1.3, 1.3}, kBehind = 1.15;
constexpr int64_t kTrialFlops = 6'000'000'000;

// A quiet machine interrupts now and then; one that shares its CPUs does so every few milliseconds.
constexpr int64_t kUsualDisturbances = 1;
constexpr int64_t kUsualPeriodNs = 20'000'000;

// How often the system took a CPU away from us: what was measured meanwhile says more about the
// others.
int64_t Disturbances() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

enum Slot : size_t {
  kIn,
  kOut,
  kWeights,
  kHomeIn,
  kHomeOut,
  kHomeWeights,
  kBias,
  kScratchpad,
  kSlots
};

}  // namespace

ConvTrial::ConvTrial(const ConvShape& shape, ConvDirection direction,
                     std::span<const ConvCandidate> kernels, const Md& home_weights,
                     const dnnl::engine& engine)
    : shape_(shape),
      direction_(direction),
      home_in_(HomeMd(shape.in)),
      home_out_(HomeMd(shape.out)),
      home_weights_(home_weights),
      engine_(engine),
      stream_(engine) {
  Allocate(kernels);
  for (const ConvCandidate& kernel : kernels) candidates_.push_back(PartsOf(kernel));
}

void ConvTrial::Allocate(std::span<const ConvCandidate> kernels) {
  size_t bytes[kSlots] = {};
  const auto reserve = [&](Slot slot, const Md& md) {
    if (!md.is_zero()) bytes[slot] = std::max(bytes[slot], md.get_size());
  };
  for (const ConvCandidate& kernel : kernels) {
    reserve(kIn, kernel.in);
    reserve(kOut, kernel.out);
    reserve(kWeights, kernel.weights);
    reserve(kBias, PlainMd({shape_.out[1]}));
    reserve(kScratchpad, kernel.scratchpad);
    if (kernel.in != home_in_) reserve(kHomeIn, home_in_);
    if (kernel.out != home_out_) reserve(kHomeOut, home_out_);
  }
  reserve(kHomeWeights, home_weights_);
  for (size_t slot = 0; slot < kSlots; ++slot) {
    Result<AlignedBlock> block = AlignedBlock::Make(static_cast<int64_t>(bytes[slot]));
    if (!block) throw dnnl::error(dnnl_out_of_memory, "no memory to try a convolution");
    // Small numbers: zeros and denormals would be faster or slower than real ones.
    float* data = reinterpret_cast<float*>(block->data());
    ParallelFor(block->bytes() / 4, 64 * 1024, [data](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) data[i] = 0.01f * static_cast<float>(i % 13) - 0.05f;
    });
    slots_.push_back(*std::move(block));
  }
}

std::unordered_map<int, dnnl::memory> ConvTrial::Arguments(const ConvCandidate& kernel) {
  const dnnl::memory in = At(kernel.in, kIn), out = At(kernel.out, kOut),
                     weights = At(kernel.weights, kWeights);
  std::unordered_map<int, dnnl::memory> arguments;
  // A flipped kernel is a backward-data primitive whose gradient of the output is our input.
  if (kernel.flipped) {
    arguments = {{DNNL_ARG_DIFF_DST, in}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_SRC, out}};
  } else if (direction_ == ConvDirection::kForward) {
    arguments = {{DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, out}};
    if (!kernel.bias.is_zero()) arguments[DNNL_ARG_BIAS] = At(kernel.bias, kBias);
  } else if (direction_ == ConvDirection::kBackwardData) {
    arguments = {{DNNL_ARG_DIFF_SRC, in}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_DST, out}};
  } else {
    arguments = {{DNNL_ARG_SRC, in}, {DNNL_ARG_DIFF_WEIGHTS, weights}, {DNNL_ARG_DIFF_DST, out}};
    if (!kernel.bias.is_zero()) arguments[DNNL_ARG_DIFF_BIAS] = At(kernel.bias, kBias);
  }
  if (kernel.scratchpad.get_size() > 0)
    arguments[DNNL_ARG_SCRATCHPAD] = At(kernel.scratchpad, kScratchpad);
  return arguments;
}

void ConvTrial::AddReorder(const Md& from, size_t from_slot, const Md& to, size_t to_slot,
                           std::vector<Part>& parts) {
  if (from == to) return;
  const dnnl::reorder reorder(dnnl::reorder::primitive_desc(engine_, from, engine_, to));
  parts.push_back(
      [this, reorder, source = At(from, from_slot), target = At(to, to_slot)]() mutable {
        reorder.execute(stream_, source, target);
      });
}

std::vector<ConvTrial::Part> ConvTrial::PartsOf(const ConvCandidate& kernel) {
  std::vector<Part> parts;
  if (direction_ == ConvDirection::kBackwardData) {
    AddReorder(home_out_, kHomeOut, kernel.out, kOut, parts);
  } else {
    AddReorder(home_in_, kHomeIn, kernel.in, kIn, parts);
    if (direction_ == ConvDirection::kBackwardWeights)
      AddReorder(home_out_, kHomeOut, kernel.out, kOut, parts);
  }
  auto* weights = reinterpret_cast<float*>(slots_[kWeights].data());
  if (kernel.flipped) {
    parts.push_back([this, weights] {
      FlipWeights(home_weights_, reinterpret_cast<float*>(slots_[kHomeWeights].data()), weights);
    });
  } else if (!home_weights_.is_zero() && direction_ != ConvDirection::kBackwardWeights) {
    AddReorder(home_weights_, kHomeWeights, kernel.weights, kWeights, parts);
  }
  if (kernel.own) {
    parts.push_back([this, own = kernel.own, weights, biased = !kernel.bias.is_zero()] {
      const auto at = [&](Slot slot) { return reinterpret_cast<float*>(slots_[slot].data()); };
      own(at(kIn), at(kOut), weights, biased ? at(kBias) : nullptr, at(kScratchpad));
    });
  } else {
    parts.push_back([this, primitive = kernel.make(), arguments = Arguments(kernel)] {
      primitive.execute(stream_, arguments);
    });
  }
  if (kernel.flipped && (shape_.op.bias || shape_.activation != Activation::kNone)) {
    parts.push_back([this] {
      AddBias(reinterpret_cast<float*>(slots_[kOut].data()),
              reinterpret_cast<float*>(slots_[kBias].data()), shape_.out[0], shape_.out[1],
              shape_.out[2] * shape_.out[3], ChannelBlock(), shape_.activation);
    });
  }
  if (direction_ == ConvDirection::kForward)
    AddReorder(kernel.out, kOut, home_out_, kHomeOut, parts);
  if (direction_ == ConvDirection::kBackwardData)
    AddReorder(kernel.in, kIn, home_in_, kHomeIn, parts);
  return parts;
}

std::vector<ConvTrial::Time> ConvTrial::Run() {
  std::vector<Time> times(candidates_.size());
  std::vector<size_t> alive(candidates_.size());
  for (size_t i = 0; i < alive.size(); ++i) alive[i] = i;
  int64_t spent_ns = 0;
  for (int round = 0; round < kMaxRounds && (round < kMinRounds || spent_ns < kEnoughNs); ++round) {
    for (size_t i : alive) {
      const int64_t begin_ns = NowNs(), before = Disturbances();
      for (const Part& part : candidates_[i]) part();
      stream_.wait();
      const int64_t time_ns = NowNs() - begin_ns;
      if (Disturbances() - before <= kUsualDisturbances + time_ns / kUsualPeriodNs)
        times[i].calm = true;
      times[i].ns = std::min(times[i].ns, time_ns);
    }
    const int64_t fastest =
        std::min_element(times.begin(), times.end(), [](const Time& a, const Time& b) {
          return a.ns < b.ns;
        })->ns;
    spent_ns += fastest;
    const double limit =
        static_cast<double>(fastest) * (round < std::ssize(kHopeless) ? kHopeless[round] : kBehind);
    std::erase_if(alive, [&](size_t i) { return static_cast<double>(times[i].ns) > limit; });
    if (alive.size() == 1) break;
  }
  return times;
}

ConvShape TrialShape(const ConvShape& shape, int64_t threads) {
  const int64_t per_image = std::max<int64_t>(1, shape.Flops() / shape.batch);
  // A multiple of the threads, so that the work divides as evenly as that of the whole batch.
  const int64_t wanted = std::max<int64_t>(1, kTrialFlops / per_image / threads) * threads;
  if (wanted >= shape.batch) return shape;
  ConvShape part = shape;
  part.batch = part.in[0] = part.out[0] = wanted;
  return part;
}

}  // namespace tench::native
