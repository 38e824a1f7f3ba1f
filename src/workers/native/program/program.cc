// SPDX-License-Identifier: Apache-2.0
#include "workers/native/program/program.h"

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "base/text.h"
#include "workers/native/program/arena_plan.h"

namespace tench::native {

const std::string& Name(Direction direction) {
  static const std::array<std::string, 4> names = {"forward", "backward_data", "backward_weights",
                                                   "update"};
  return names[static_cast<size_t>(direction)];
}

BufferId Program::AddBuffer(Buffer buffer) {
  buffers_.push_back(buffer);
  return static_cast<BufferId>(buffers_.size() - 1);
}

void Program::Plan(std::vector<int64_t>& offsets, int64_t& arena_bytes,
                   int64_t& persistent_bytes) const {
  std::vector<Lifetime> lives(buffers_.size(), Lifetime{0, -1, -1});
  for (size_t i = 0; i < steps_.size(); ++i) {
    for (const Argument& argument : steps_[i].arguments) {
      Lifetime& life = lives[argument.tensor.buffer];
      if (life.first < 0) life.first = static_cast<int64_t>(i);
      life.last = static_cast<int64_t>(i);
    }
  }
  offsets.assign(buffers_.size(), 0);
  persistent_bytes = 0;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].place == Place::kPersistent) {
      offsets[i] = persistent_bytes;
      persistent_bytes +=
          (buffers_[i].bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
    } else if (lives[i].first >= 0) {
      lives[i].bytes = buffers_[i].bytes;
    }
  }
  const ArenaPlan plan = PlanArena(lives);
  arena_bytes = plan.bytes;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].place == Place::kArena) offsets[i] = plan.offsets[i];
  }
}

Status Program::Bind(const dnnl::engine& engine, int64_t available_bytes) {
  std::vector<int64_t> offsets;
  int64_t arena_bytes = 0, persistent_bytes = 0;
  Plan(offsets, arena_bytes, persistent_bytes);
  if (arena_bytes + persistent_bytes > available_bytes) {
    return Error{
        fmt::format("the plan needs {}, and {} are available",
                    HumanBytes(arena_bytes + persistent_bytes), HumanBytes(available_bytes)),
        ErrorKind::kOutOfMemory};
  }
  arena_ = TENCH_TRY(AlignedBlock::Make(arena_bytes));
  persistent_ = TENCH_TRY(AlignedBlock::Make(persistent_bytes));
  addresses_.resize(buffers_.size());
  for (size_t i = 0; i < buffers_.size(); ++i) {
    addresses_[i] =
        (buffers_[i].place == Place::kPersistent ? persistent_ : arena_).data() + offsets[i];
  }
  bound_.resize(steps_.size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    Bound& bound = bound_[i];
    for (const Argument& argument : steps_[i].arguments) {
      bound.pointers.push_back(Address(argument.tensor));
      if (steps_[i].kernel) continue;
      bound.memories.emplace_back(argument.tensor.md, engine, addresses_[argument.tensor.buffer]);
      bound.arguments.push_back({argument.key, bound.memories.back().get()});
    }
  }
  return Ok();
}

float* Program::Address(const Tensor& tensor) const {
  return reinterpret_cast<float*>(addresses_[tensor.buffer]) + tensor.md.get_submemory_offset();
}

void Program::Execute(size_t step, dnnl::stream& stream, RunState& state) {
  Bound& bound = bound_[step];
  if (steps_[step].kernel) {
    steps_[step].kernel(bound.pointers, state);
    return;
  }
  // The C API: the C++ wrapper would allocate a vector of the arguments in every call.
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(steps_[step].primitive.get(), stream.get(),
                             static_cast<int>(bound.arguments.size()), bound.arguments.data()),
      "could not execute a primitive");
}

void Program::Run(dnnl::stream& stream, RunState& state) {
  if (timings_.empty()) {
    for (size_t i = 0; i < steps_.size(); ++i) Execute(i, stream, state);
    stream.wait();
    return;
  }
  for (size_t i = 0; i < steps_.size(); ++i) {
    const int64_t begin_ns = NowNs();
    Execute(i, stream, state);
    stream.wait();
    const int64_t time_ns = NowNs() - begin_ns;
    timings_[i].time_ns += time_ns;
    ++timings_[i].calls;
    if (timings_[i].calls <= traced_runs_) intervals_.push_back({i, begin_ns, time_ns});
  }
}

void Program::StartProfile(int64_t traced_runs) {
  timings_.assign(steps_.size(), {});
  traced_runs_ = traced_runs;
  intervals_.clear();
}

int64_t Program::Bytes(const Step& step) {
  int64_t bytes = 0;
  for (const Argument& argument : step.arguments)
    bytes += static_cast<int64_t>(argument.tensor.md.get_size());
  return bytes;
}

}  // namespace tench::native
