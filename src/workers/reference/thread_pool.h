// SPDX-License-Identifier: Apache-2.0
#pragma once
// A fixed set of threads that share out independent pieces of work. The calling thread is one of
// them. Which thread computes a piece is left to chance, so a piece must not depend on another one:
// then results are the same bits for every number of threads. Owned and used by one thread at a
// time. Pieces must not throw.

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

  // Splits [0, count) into stretches of about `grain` and calls work(first, last) for each.
  void Split(int64_t count, int64_t grain,
             const std::function<void(int64_t first, int64_t last)>& work);

  // Memory of a thread's own, kept from call to call; its content is undefined. Only for use inside
  // a piece.
  double* Scratch(int64_t thread, size_t size);
  // Makes every thread's scratch at least so large; allocation happens here and never inside a
  // piece.
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
