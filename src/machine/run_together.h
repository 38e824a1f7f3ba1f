// SPDX-License-Identifier: Apache-2.0
#pragma once
// Times work that several threads do at once, for measurements of peaks.

#include <cstdint>
#include <functional>

namespace tench {

// Runs work(thread) on all threads concurrently and returns the time until the last one has
// finished, at least 1 ns.
int64_t RunTogetherNs(int64_t threads, const std::function<void(int64_t)>& work);

}  // namespace tench
