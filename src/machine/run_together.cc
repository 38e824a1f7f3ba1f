// SPDX-License-Identifier: Apache-2.0
#include "machine/run_together.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace tench {

int64_t RunTogetherNs(int64_t threads, const std::function<void(int64_t)>& work) {
  const int64_t begin_ns = NowNs();
  std::vector<std::thread> others;
  for (int64_t i = 1; i < threads; ++i) others.emplace_back(work, i);
  work(0);
  for (std::thread& other : others) other.join();
  return std::max<int64_t>(1, NowNs() - begin_ns);
}

}  // namespace tench
