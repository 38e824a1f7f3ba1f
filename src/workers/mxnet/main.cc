// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>

#include "worker/serve.h"
#include "workers/mxnet/adapter.h"
#include "workers/mxnet/library.h"

int main(int argc, char** argv) {
  const int code = tench::Serve(argc, argv, [] {
    return tench::mxnet::MakeMxnetAdapter(tench::mxnet::Library::DefaultFile());
  });
  // MXNet's engine is a static object whose threads still run when static destructors begin. Their
  // order is unspecified, and MXNet sometimes aborts there (apache/mxnet#17653, #19379). All work
  // is complete and all arrays are freed here, so the process ends without static destructors.
  std::fflush(nullptr);
  std::_Exit(code);
}
