// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fills batches ahead of the steps that use them: threads of its own and a bounded ring of batches.
// Batches come in the order of the steps, and their bits do not depend on the number of threads,
// because a row is a function of its step and its position alone. Not aware of files or networks.
//
// Errors: a failure or an exception of a filler is the result of Next for its step, the first row's
// if several rows of a step fail. Ownership: owns the threads and the batches. Thread safety: one
// thread calls Next.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/error.h"
#include "net/tensor.h"

namespace tench {

class BatchLoader {
 public:
  // Fills rows begin to end - 1 of the batch of a step. A batch's memory is reused.
  using RowFiller = std::function<Status(int64_t step, int64_t begin, int64_t end,
                                         std::vector<HostTensor>& batch)>;

  struct Options {
    int64_t threads = 1;
    // Batches that may be ready before their step. 0 = a batch is begun when Next asks for it.
    int64_t prefetch = 2;
    int64_t rows = 1;                                     // per batch
    int64_t chunk = 1;                                    // rows that one thread takes at a time
    int64_t steps = std::numeric_limits<int64_t>::max();  // batches to fill
  };

  // `make_filler` is called once for each thread, in the calling thread; `size` makes an empty
  // batch.
  BatchLoader(const Options& options, const std::function<RowFiller()>& make_filler,
              const std::function<void(std::vector<HostTensor>&)>& size);
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;
  ~BatchLoader();

  // Waits for the next step's batch, which is valid until the next call.
  Result<std::span<const HostTensor>> Next();

  // CPU time of the threads while they filled rows, and the number of these rows.
  struct Work {
    int64_t cpu_ns = 0, rows = 0;
  };
  Work work() const;

 private:
  struct Slot {
    std::vector<HostTensor> batch;
    int64_t step = -1;           // whose rows it holds
    int64_t filled = 0;          // rows
    int64_t failed_row = -1;     // the first that failed; -1 = none
    std::optional<Error> error;  // of failed_row
  };
  struct Chunk {
    int64_t step = 0, begin = 0, end = 0;
  };

  void Load(const RowFiller& fill);
  bool Take(Chunk& chunk);
  void Put(const Chunk& chunk, Status status, int64_t cpu_ns);
  Slot& SlotOf(int64_t step) { return slots_[static_cast<size_t>(step) % slots_.size()]; }

  const Options options_;
  std::vector<Slot> slots_;
  mutable std::mutex mutex_;
  std::condition_variable free_, full_;
  int64_t taken_step_ = 0, taken_row_ = 0;  // of the next chunk
  int64_t released_ = 0;                    // steps whose batches are no longer used
  int64_t begun_ = 0;                       // steps that Next was asked for
  int64_t next_ = 0;                        // the step that Next returns next
  bool ending_ = false;
  Work work_;
  std::vector<std::jthread> threads_;  // the last member, so that it ends first
};

}  // namespace tench
