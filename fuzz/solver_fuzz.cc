// SPDX-License-Identifier: Apache-2.0
// A solver's file may be anything. What is read has rates that are numbers or is refused, and what
// is written of it reads as the same.

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
  Check(again->solver == solver->solver && again->max_iterations == solver->max_iterations,
        "a solver changes when it is written and read");
  return 0;
}
