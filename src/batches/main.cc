// SPDX-License-Identifier: Apache-2.0
// tench-batches: started by workers on the Python kit for a job with real data.
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "batches/batch_server.h"

int main(int argc, char**) {
  if (argc > 1 || isatty(STDIN_FILENO) != 0) {
    std::cerr << "tench-batches reads real data for tench's workers in Python; it takes no "
                 "arguments (docs/workers.md)\n";
    return 2;
  }
  // The worker decides when the run ends: then standard input ends.
  std::signal(SIGTERM, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  const tench::Fd answers(STDOUT_FILENO);
  return tench::ServeBatches(std::cin, answers).ok() ? 0 : 1;
}
