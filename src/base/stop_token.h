// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cooperative cancellation that a signal handler can request. A StopSource owns the flag; a
// StopToken is a copyable view of it that long work polls. std::stop_source does not serve here:
// its request_stop takes a lock and runs callbacks, which a signal handler must not do.
//
// Ownership: a token must not outlive its source. A token without a source never stops.
// Thread safety: every member may be called from any thread; RequestStop and stop_requested are
// also async-signal-safe.

#include <atomic>

namespace tench {

class StopToken {
 public:
  StopToken() = default;

  bool stop_requested() const {
    return requested_ != nullptr && requested_->load(std::memory_order_relaxed);
  }

 private:
  friend class StopSource;
  explicit StopToken(const std::atomic<bool>& requested) : requested_(&requested) {}

  const std::atomic<bool>* requested_ = nullptr;
};

class StopSource {
 public:
  constexpr StopSource() = default;
  StopSource(const StopSource&) = delete;
  StopSource& operator=(const StopSource&) = delete;

  // Returns whether this was the first request since construction or Reset.
  bool RequestStop() { return !requested_.exchange(true, std::memory_order_relaxed); }
  void Reset() { requested_.store(false, std::memory_order_relaxed); }
  StopToken token() const { return StopToken(requested_); }

 private:
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not take a lock");
  std::atomic<bool> requested_ = false;
};

}  // namespace tench
