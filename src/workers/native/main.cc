// SPDX-License-Identifier: Apache-2.0
#include "worker/serve.h"
#include "workers/native/adapter.h"

int main(int argc, char** argv) {
  return tench::Serve(argc, argv, [] { return tench::native::MakeNativeAdapter(); });
}
