// SPDX-License-Identifier: Apache-2.0
// Fuzzes ParseSolverState with arbitrary bytes. Every blob that is read has as many values as its
// shape has elements, and a state fits a network or is refused.

#include <string_view>

#include "net/caffe/solver_state.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tench;
  const Result<CaffeSolverState> state =
      ParseSolverState({reinterpret_cast<const char*>(data), size});
  if (!state.ok()) return 0;
  Check(state->iteration >= 0, "a negative iteration");
  for (const CaffeSolverState::Blob& blob : state->history)
    Check(static_cast<int64_t>(blob.values.size()) == ElementCount(blob.shape),
          "a blob does not fill its shape");
  return 0;
}
