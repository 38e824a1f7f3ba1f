// SPDX-License-Identifier: Apache-2.0
#include "worker/serve.h"
#include "workers/mxnet/adapter.h"
#include "workers/mxnet/library.h"

int main(int argc, char** argv) {
  return tench::Serve(argc, argv, [] {
    return tench::mxnet::MakeMxnetAdapter(tench::mxnet::Library::DefaultFile());
  });
}
