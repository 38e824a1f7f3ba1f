// SPDX-License-Identifier: Apache-2.0
#include "data/batch_loader.h"

#include <time.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace tench {
namespace {

int64_t ThreadCpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Status Filled(const BatchLoader::RowFiller& fill, int64_t step, int64_t begin, int64_t end,
              std::vector<HostTensor>& batch) {
  try {
    return fill(step, begin, end, batch);
  } catch (const std::bad_alloc&) {
    return Error{"no memory to load a batch", ErrorKind::kOutOfMemory};
  } catch (const std::exception& exception) {
    return Failed("loading a batch: {}", exception.what());
  }
}

}  // namespace

BatchLoader::BatchLoader(const Options& options, const std::function<RowFiller()>& make_filler,
                         const std::function<void(std::vector<HostTensor>&)>& size)
    : options_(options), slots_(static_cast<size_t>(options.prefetch) + 1) {
  Check(options.threads > 0 && options.prefetch >= 0 && options.rows > 0 && options.chunk > 0,
        "a loader without threads, batches or rows");
  for (Slot& slot : slots_) size(slot.batch);
  for (int64_t i = 0; i < options.threads; ++i)
    threads_.emplace_back([this, fill = make_filler()] { Load(fill); });
}

BatchLoader::~BatchLoader() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ending_ = true;
  free_.notify_all();
}

Result<std::span<const HostTensor>> BatchLoader::Next() {
  std::unique_lock<std::mutex> lock(mutex_);
  Check(next_ < options_.steps, "a batch beyond the steps of the loader");
  released_ = next_;
  begun_ = next_ + 1;
  free_.notify_all();
  Slot& slot = SlotOf(next_);
  full_.wait(lock, [&] { return slot.step == next_ && slot.filled == options_.rows; });
  ++next_;
  if (slot.error) return *slot.error;
  return std::span<const HostTensor>(slot.batch);
}

bool BatchLoader::Take(Chunk& chunk) {
  std::unique_lock<std::mutex> lock(mutex_);
  // The slot of a step is free when the batch that had it is released.
  const auto may_begin = [&] {
    return taken_step_ < options_.steps &&
           taken_step_ < released_ + static_cast<int64_t>(slots_.size()) &&
           taken_step_ < begun_ + options_.prefetch;
  };
  free_.wait(lock, [&] { return ending_ || may_begin(); });
  if (ending_) return false;
  chunk = {taken_step_, taken_row_, std::min(taken_row_ + options_.chunk, options_.rows)};
  if (chunk.begin == 0) {
    Slot& slot = SlotOf(chunk.step);
    slot.step = chunk.step;
    slot.filled = 0;
    slot.failed_row = -1;
    slot.error.reset();
  }
  taken_row_ = chunk.end;
  if (taken_row_ == options_.rows) {
    taken_row_ = 0;
    ++taken_step_;
  }
  return true;
}

void BatchLoader::Put(const Chunk& chunk, Status status, int64_t cpu_ns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Slot& slot = SlotOf(chunk.step);
  work_.cpu_ns += cpu_ns;
  work_.rows += chunk.end - chunk.begin;
  if (!status.ok() && (slot.failed_row < 0 || chunk.begin < slot.failed_row)) {
    slot.failed_row = chunk.begin;
    slot.error = std::move(status).error();
  }
  slot.filled += chunk.end - chunk.begin;
  if (slot.filled == options_.rows) full_.notify_one();
}

void BatchLoader::Load(const RowFiller& fill) {
  Chunk chunk;
  while (Take(chunk)) {
    const int64_t start_ns = ThreadCpuNs();
    Status status = Filled(fill, chunk.step, chunk.begin, chunk.end, SlotOf(chunk.step).batch);
    Put(chunk, std::move(status), ThreadCpuNs() - start_ns);
  }
}

BatchLoader::Work BatchLoader::work() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return work_;
}

}  // namespace tench
