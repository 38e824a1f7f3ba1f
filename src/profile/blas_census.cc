// SPDX-License-Identifier: Apache-2.0
#include "profile/blas_census.h"

#include <array>

#include "base/text.h"

namespace tench {
namespace {

constexpr size_t kFields = 9;

Result<BlasCall> ParseCall(std::string_view line) {
  const std::vector<std::string> fields = Split(line, '\t');
  if (fields.size() != kFields) return Failed("{} fields instead of {}", fields.size(), kFields);
  BlasCall call;
  call.function = Printable(fields[0], 40);
  const std::array<std::pair<char*, std::string_view>, 3> letters = {
      {{&call.order, "RC-"}, {&call.trans_a, "nt-"}, {&call.trans_b, "nt-"}}};
  for (size_t i = 0; i < letters.size(); ++i) {
    const std::string& field = fields[i + 1];
    if (field.size() != 1 || letters[i].second.find(field[0]) == std::string_view::npos)
      return Failed("'{}' is not one of {}", Printable(field, 20), letters[i].second);
    *letters[i].first = field[0];
  }
  const std::array<int64_t*, 5> numbers = {&call.m, &call.n, &call.k, &call.calls, &call.time_ns};
  for (size_t i = 0; i < numbers.size(); ++i) {
    *numbers[i] = TENCH_TRY(ParseInteger(fields[i + 4]));
    if (*numbers[i] < 0) return Failed("'{}' is negative", fields[i + 4]);
  }
  return call;
}

}  // namespace

Result<std::vector<BlasCall>> ParseBlasCalls(std::string_view text, std::string_view origin) {
  std::vector<BlasCall> calls;
  const std::vector<std::string> lines = Split(text, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    calls.push_back(TENCH_TRY(ParseCall(lines[i]).In(fmt::format("{}:{}", origin, i + 1))));
  }
  return calls;
}

bool IsGemm(const BlasCall& call) { return call.function.find("gemm") != std::string::npos; }

GemmTable CountGemms(std::span<const BlasCall> calls) {
  GemmTable table;
  for (const BlasCall& call : calls) {
    GemmKind* kind = call.order == '-' ? &table.vector : &table.gemv;
    if (IsGemm(call)) {
      const bool plain_a = call.trans_a == 'n', plain_b = call.trans_b == 'n';
      // Only nn: the weight gradient of a fully connected layer has k = 1 at batch 1 too.
      kind = plain_a && plain_b ? (call.k == 1 ? &table.bias : &table.nn)
             : plain_a          ? &table.nt
             : plain_b          ? &table.tn
                                : &table.tt;
    }
    // Unsigned, because a damaged file may hold any number.
    kind->calls = static_cast<int64_t>(static_cast<uint64_t>(kind->calls) +
                                       static_cast<uint64_t>(call.calls));
    kind->time_ns = static_cast<int64_t>(static_cast<uint64_t>(kind->time_ns) +
                                         static_cast<uint64_t>(call.time_ns));
  }
  return table;
}

}  // namespace tench
