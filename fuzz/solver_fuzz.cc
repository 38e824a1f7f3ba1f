// SPDX-License-Identifier: Apache-2.0
// Fuzzes ReadSolver with arbitrary bytes. A solver that is read has a finite schedule, and writing
// it and reading it again gives the same solver. An error is one line.

#include <string_view>

#include "net/caffe/solver_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tench;
  const Result<CaffeSolver> solver =
      ReadSolver({reinterpret_cast<const char*>(data), size}, "fuzz.prototxt");
  if (!solver.ok()) {
    Check(solver.error().message.find('\n') == std::string::npos,
          "an error has more than one line");
    return 0;
  }
  Check(solver->max_iterations > 0, "a solver without iterations was read");
  (void)solver->rate.Schedule(100);
  if (solver->network) return 0;
  const Result<CaffeSolver> again = ReadSolver(WriteSolver(*solver), "again.prototxt");
  Check(again.ok(), "a written solver does not read");
  // The snapshot prefix is left out: whether it names a folder depends on the machine.
  Check(again->solver == solver->solver && again->rate == solver->rate &&
            again->max_iterations == solver->max_iterations && again->display == solver->display &&
            again->average_loss == solver->average_loss && again->snapshot == solver->snapshot &&
            again->snapshot_after_train == solver->snapshot_after_train &&
            again->random_seed == solver->random_seed && again->weights == solver->weights &&
            again->state == solver->state && again->net == solver->net,
        "a solver changes when it is written and read");
  return 0;
}
