// SPDX-License-Identifier: Apache-2.0
#include "worker/serve.h"
#include "workers/reference/adapter.h"

int main(int argc, char** argv) {
  return tench::Serve(argc, argv, [] { return tench::MakeReferenceAdapter(); });
}
