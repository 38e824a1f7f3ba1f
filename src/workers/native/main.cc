// SPDX-License-Identifier: Apache-2.0
#include "worker/serve.h"
#include "workers/native/adapter.h"
#include "workers/native/spin_limit.h"

int main(int argc, char** argv) {
  tench::native::LimitSpinning(argv);
  return tench::Serve(argc, argv, [] { return tench::native::MakeNativeAdapter(); });
}
