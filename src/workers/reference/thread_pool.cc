// SPDX-License-Identifier: Apache-2.0
#include "workers/reference/thread_pool.h"

#include <algorithm>

#include "base/error.h"

namespace tench {

ThreadPool::ThreadPool(int64_t threads) {
  const int64_t count = std::max<int64_t>(1, threads);
  scratch_.resize(count);
  for (int64_t thread = 1; thread < count; ++thread)
    workers_.emplace_back([this, thread] { Loop(thread); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::Run(int64_t pieces, const std::function<void(int64_t, int64_t)>& work) {
  if (workers_.empty() || pieces <= 1) {
    for (int64_t piece = 0; piece < pieces; ++piece) work(piece, 0);
    return;
  }
  {
    std::lock_guard lock(mutex_);
    work_ = &work;
    pieces_ = pieces;
    next_ = 0;
    busy_ = static_cast<int64_t>(workers_.size());
    ++generation_;
  }
  wake_.notify_all();
  Drain(0);
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return busy_ == 0; });
}

void ThreadPool::Split(int64_t count, int64_t grain,
                       const std::function<void(int64_t, int64_t)>& work) {
  const int64_t step = std::max<int64_t>(1, grain);
  Run((count + step - 1) / step,
      [&](int64_t piece, int64_t) { work(piece * step, std::min(count, (piece + 1) * step)); });
}

void ThreadPool::ReserveScratch(size_t size) {
  for (std::vector<double>& scratch : scratch_) {
    if (scratch.size() < size) scratch.resize(size);
  }
}

double* ThreadPool::Scratch(int64_t thread, size_t size) {
  Check(scratch_[thread].size() >= size, "scratch memory was not reserved");
  return scratch_[thread].data();
}

void ThreadPool::Loop(int64_t thread) {
  uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
    }
    Drain(thread);
    std::lock_guard lock(mutex_);
    if (--busy_ == 0) idle_.notify_one();
  }
}

void ThreadPool::Drain(int64_t thread) {
  for (int64_t piece; (piece = next_.fetch_add(1)) < pieces_;) (*work_)(piece, thread);
}

}  // namespace tench
