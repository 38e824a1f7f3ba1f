// SPDX-License-Identifier: Apache-2.0
#pragma once
// A fixed set of threads that execute independent work items; the calling thread is one of them.
// The assignment of items to threads is dynamic, so no item may depend on another. Results then
// have the same bits for every number of threads. Owned and used by one thread at a time. Work
// items must not throw.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tench {

class ThreadPool {
 public:
  explicit ThreadPool(int64_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int64_t threads() const { return static_cast<int64_t>(workers_.size()) + 1; }

  // Calls work(piece, thread) for every piece in [0, pieces) and returns when all are done; thread
  // is in [0, threads()).
  void Run(int64_t pieces, const std::function<void(int64_t piece, int64_t thread)>& work);

  // Splits [0, count) into ranges of about `grain` elements and calls work(first, last) for each.
  void Split(int64_t count, int64_t grain,
             const std::function<void(int64_t first, int64_t last)>& work);

  // A buffer per thread, kept from call to call, with undefined content. Only for use inside a work
  // item.
  double* Scratch(int64_t thread, size_t size);
  // Resizes every thread's scratch to at least `size`, so that no allocation happens inside a work
  // item.
  void ReserveScratch(size_t size);

 private:
  void Loop(int64_t thread);
  void Drain(int64_t thread);

  std::vector<std::thread> workers_;
  std::vector<std::vector<double>> scratch_;
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  uint64_t generation_ = 0;
  int64_t busy_ = 0;
  bool stopping_ = false;
  const std::function<void(int64_t, int64_t)>* work_ = nullptr;
  int64_t pieces_ = 0;
  std::atomic<int64_t> next_ = 0;
};

}  // namespace tench
