// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdlib>

#include "worker/serve.h"
#include "workers/native/adapter.h"

namespace {

// libgomp reads its settings when it is loaded, so they have to be there before this program is: it
// starts itself once more. A thread that waits at a barrier spins for some hundred microseconds,
// enough for the next kernel to come, and then sleeps. By default it would spin for milliseconds,
// which costs nothing on a quiet machine and nearly everything on a busy one, where the thread it
// waits for is not running.
void LimitSpinning(char** argv) {
  if (std::getenv("GOMP_SPINCOUNT") != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("GOMP_SPINCOUNT", "30000", 1);
  execv("/proc/self/exe", argv);  // where that fails, the default has to do
}

}  // namespace

int main(int argc, char** argv) {
  LimitSpinning(argv);
  return tench::Serve(argc, argv, [] { return tench::native::MakeNativeAdapter(); });
}
