// SPDX-License-Identifier: Apache-2.0
// A build of the native worker whose steps take TENCH_SLOWED_PERCENT longer: a planted regression
// for bench/aa and bench/gate. With 0 it is another build of the same speed. tench does not find it
// by default.
#include "waiting_adapter.h"
#include "worker/serve.h"
#include "workers/native/adapter.h"

int main(int argc, char** argv) {
  return tench::Serve(argc, argv, [] {
    return std::unique_ptr<tench::Adapter>(std::make_unique<tench::WaitingAdapter>(
        tench::native::MakeNativeAdapter(), TENCH_SLOWED_PERCENT / 100.0));
  });
}
