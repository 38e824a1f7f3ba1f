// SPDX-License-Identifier: Apache-2.0
#pragma once
// The main program of every C++ worker: reads the job, calls the adapter, writes the answers. The
// timed loop, warm-up, stop rule, memory readings and signal handling are shared code, so that
// every framework is measured by the same instructions. No exception of a framework passes serve.

#include <functional>
#include <memory>

#include "worker/adapter.h"

namespace tench {

// `make` is called once; its adapter lives as long as the process. Returns the exit code: 0 after a
// result or an error line, 2 for a bad command line.
int Serve(int argc, char** argv, const std::function<std::unique_ptr<Adapter>()>& make);

}  // namespace tench
