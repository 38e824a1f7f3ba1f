// SPDX-License-Identifier: Apache-2.0
#pragma once
// The BLAS calls of a process, as the preloaded recorder (preload/blas_recorder.cc) wrote them, and
// their counts in the form of Table 5.1 of the UFSM thesis. Not aware of how a process is started.
// Thread safety: pure functions.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "profile/gemm_prediction.h"

namespace tench {

// The recorder's variable: the folder for its files.
inline constexpr const char* kBlasCensusVariable = "TENCH_BLAS_CENSUS";

// Calls of one function with the same arguments.
struct BlasCall {
  std::string function;               // "cblas_sgemm", "sgemm_", "cblas_sgemv", "cblas_saxpy"
  char order = '-';                   // 'R' row-major, 'C' column-major, '-' = a vector function
  char trans_a = '-', trans_b = '-';  // 'n', 't', '-' = no such operand
  int64_t m = 0, n = 0, k = 0;        // k is 0 for a matrix and a vector, n too for vectors
  int64_t calls = 0, time_ns = 0;

  bool operator==(const BlasCall&) const = default;
};

// Reads one file: a line per call with nine fields, separated by tabs. Errors name the line.
Result<std::vector<BlasCall>> ParseBlasCalls(std::string_view text, std::string_view origin);

bool IsGemm(const BlasCall& call);

// Seconds and calls of one kind of matrix product.
struct GemmKind {
  int64_t calls = 0, time_ns = 0;
};
// A product nn with k = 1 is a bias and not part of `nn`.
struct GemmTable {
  GemmKind nn, nt, tn, tt, bias;
  GemmKind gemv, vector;  // matrix times vector; level 1
  GemmCounts counts() const { return {nn.calls, nt.calls, tn.calls, bias.calls}; }
};
GemmTable CountGemms(std::span<const BlasCall> calls);

}  // namespace tench
