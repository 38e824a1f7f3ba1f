// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/conv_trial.h"

#include <sys/resource.h>

#include <algorithm>
#include <iterator>

#include "base/clock.h"
#include "workers/native/conv/flipped_weights.h"
#include "workers/native/kernels/parallel.h"
#include "workers/native/kernels/pointwise.h"
#include "workers/native/program/layout.h"

namespace tench::native {
namespace {

constexpr int64_t kEnoughNs = 60'000'000;  // spent in the fastest candidate
constexpr int kMinRounds = 5;
constexpr int kMaxRounds = 120;
// A candidate slower than the fastest by this factor is dropped, by round. The first rounds are
// lenient: caches are cold, and a single outlier should not decide.
constexpr double kDropFactor[] = {4.0, 2.0, 1.3, 1.3}, kLateDropFactor = 1.15;
constexpr int64_t kTrialFlops = 6'000'000'000;

// Involuntary context switches of an idle machine: one per run and per period. A machine that
// shares its CPUs has one every few milliseconds.
constexpr int64_t kUsualPreemptions = 1;
constexpr int64_t kUsualPeriodNs = 20'000'000;

int64_t Preemptions() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

enum Slot : size_t {
  kIn,
  kOut,
  kWeights,
  kStoredIn,
  kStoredOut,
  kStoredWeights,
  kBias,
  kScratchpad,
  kSlots
};

}  // namespace

ConvTrial::ConvTrial(const ConvShape& shape, ConvDirection direction,
                     std::span<const ConvCandidate> candidates, const Md& stored_weights,
                     const dnnl::engine& engine)
    : shape_(shape),
      direction_(direction),
      stored_in_(ActivationMd(shape.in)),
      stored_out_(ActivationMd(shape.out)),
      stored_weights_(stored_weights),
      engine_(engine),
      stream_(engine) {
  Allocate(candidates);
  for (const ConvCandidate& candidate : candidates) parts_.push_back(PartsOf(candidate));
}

void ConvTrial::Allocate(std::span<const ConvCandidate> candidates) {
  size_t bytes[kSlots] = {};
  const auto reserve = [&](Slot slot, const Md& md) {
    if (!md.is_zero()) bytes[slot] = std::max(bytes[slot], md.get_size());
  };
  for (const ConvCandidate& candidate : candidates) {
    reserve(kIn, candidate.in);
    reserve(kOut, candidate.out);
    reserve(kWeights, candidate.weights);
    reserve(kBias, PlainMd({shape_.out[1]}));
    reserve(kScratchpad, candidate.scratchpad);
    if (candidate.in != stored_in_) reserve(kStoredIn, stored_in_);
    if (candidate.out != stored_out_) reserve(kStoredOut, stored_out_);
  }
  reserve(kStoredWeights, stored_weights_);
  for (size_t slot = 0; slot < kSlots; ++slot) {
    Result<AlignedBlock> block = AlignedBlock::Make(static_cast<int64_t>(bytes[slot]));
    if (!block) throw dnnl::error(dnnl_out_of_memory, "no memory for the trial of a convolution");
    // Normal numbers: zeros and denormals have other timings.
    float* data = reinterpret_cast<float*>(block->data());
    ParallelFor(block->bytes() / 4, 64 * 1024, [data](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) data[i] = 0.01f * static_cast<float>(i % 13) - 0.05f;
    });
    slots_.push_back(*std::move(block));
  }
}

std::unordered_map<int, dnnl::memory> ConvTrial::Arguments(const ConvCandidate& candidate) {
  const dnnl::memory in = At(candidate.in, kIn), out = At(candidate.out, kOut),
                     weights = At(candidate.weights, kWeights);
  std::unordered_map<int, dnnl::memory> arguments;
  // A flipped candidate is a backward-data primitive: its diff_dst is the input.
  if (candidate.flipped) {
    arguments = {{DNNL_ARG_DIFF_DST, in}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_SRC, out}};
  } else if (direction_ == ConvDirection::kForward) {
    arguments = {{DNNL_ARG_SRC, in}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, out}};
    if (!candidate.bias.is_zero()) arguments[DNNL_ARG_BIAS] = At(candidate.bias, kBias);
  } else if (direction_ == ConvDirection::kBackwardData) {
    arguments = {{DNNL_ARG_DIFF_SRC, in}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_DST, out}};
  } else {
    arguments = {{DNNL_ARG_SRC, in}, {DNNL_ARG_DIFF_WEIGHTS, weights}, {DNNL_ARG_DIFF_DST, out}};
    if (!candidate.bias.is_zero()) arguments[DNNL_ARG_DIFF_BIAS] = At(candidate.bias, kBias);
  }
  if (candidate.scratchpad.get_size() > 0)
    arguments[DNNL_ARG_SCRATCHPAD] = At(candidate.scratchpad, kScratchpad);
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

std::vector<ConvTrial::Part> ConvTrial::PartsOf(const ConvCandidate& candidate) {
  std::vector<Part> parts;
  if (direction_ == ConvDirection::kBackwardData) {
    AddReorder(stored_out_, kStoredOut, candidate.out, kOut, parts);
  } else {
    AddReorder(stored_in_, kStoredIn, candidate.in, kIn, parts);
    if (direction_ == ConvDirection::kBackwardWeights)
      AddReorder(stored_out_, kStoredOut, candidate.out, kOut, parts);
  }
  auto* weights = reinterpret_cast<float*>(slots_[kWeights].data());
  if (candidate.flipped) {
    parts.push_back([this, weights] {
      FlipWeights(stored_weights_, reinterpret_cast<float*>(slots_[kStoredWeights].data()),
                  weights);
    });
  } else if (!stored_weights_.is_zero() && direction_ != ConvDirection::kBackwardWeights) {
    AddReorder(stored_weights_, kStoredWeights, candidate.weights, kWeights, parts);
  }
  if (candidate.run) {
    parts.push_back([this, run = candidate.run, weights, biased = !candidate.bias.is_zero()] {
      const auto at = [&](Slot slot) { return reinterpret_cast<float*>(slots_[slot].data()); };
      run(at(kIn), at(kOut), weights, biased ? at(kBias) : nullptr, at(kScratchpad));
    });
  } else {
    parts.push_back([this, primitive = candidate.make(), arguments = Arguments(candidate)] {
      primitive.execute(stream_, arguments);
    });
  }
  if (candidate.flipped && (shape_.op.bias || shape_.activation != Activation::kNone)) {
    parts.push_back([this] {
      AddBias(reinterpret_cast<float*>(slots_[kOut].data()),
              reinterpret_cast<float*>(slots_[kBias].data()), shape_.out[0], shape_.out[1],
              shape_.out[2] * shape_.out[3], ChannelBlock(), shape_.activation);
    });
  }
  if (direction_ == ConvDirection::kForward)
    AddReorder(candidate.out, kOut, stored_out_, kStoredOut, parts);
  if (direction_ == ConvDirection::kBackwardData)
    AddReorder(candidate.in, kIn, stored_in_, kStoredIn, parts);
  return parts;
}

std::vector<ConvTrial::Time> ConvTrial::Run() {
  std::vector<Time> times(parts_.size());
  std::vector<size_t> alive(parts_.size());
  for (size_t i = 0; i < alive.size(); ++i) alive[i] = i;
  int64_t spent_ns = 0;
  for (int round = 0; round < kMaxRounds && (round < kMinRounds || spent_ns < kEnoughNs); ++round) {
    for (size_t i : alive) {
      const int64_t begin_ns = NowNs(), before = Preemptions();
      for (const Part& part : parts_[i]) part();
      stream_.wait();
      const int64_t time_ns = NowNs() - begin_ns;
      if (Preemptions() - before <= kUsualPreemptions + time_ns / kUsualPeriodNs)
        times[i].calm = true;
      times[i].ns = std::min(times[i].ns, time_ns);
    }
    const int64_t fastest =
        std::min_element(times.begin(), times.end(), [](const Time& a, const Time& b) {
          return a.ns < b.ns;
        })->ns;
    spent_ns += fastest;
    const double limit = static_cast<double>(fastest) *
                         (round < std::ssize(kDropFactor) ? kDropFactor[round] : kLateDropFactor);
    std::erase_if(alive, [&](size_t i) { return static_cast<double>(times[i].ns) > limit; });
    if (alive.size() == 1) break;
  }
  return times;
}

ConvShape TrialShape(const ConvShape& shape, int64_t threads) {
  const int64_t per_image = std::max<int64_t>(1, shape.Flops() / shape.batch);
  // A multiple of the threads, so that the load balance is that of the whole batch.
  const int64_t wanted = std::max<int64_t>(1, kTrialFlops / per_image / threads) * threads;
  if (wanted >= shape.batch) return shape;
  ConvShape part = shape;
  part.batch = part.in[0] = part.out[0] = wanted;
  return part;
}

}  // namespace tench::native
