// SPDX-License-Identifier: Apache-2.0
// Fuzzes the readers of profiles: the files of the BLAS recorder, and the census in a results file.
// What is read counts, aligns and encodes again; an error is one line.

#include <string_view>

#include "profile/alignment.h"
#include "profile/blas_census.h"
#include "profile/cause.h"
#include "profile/roofline.h"
#include "store/census_blob.h"

namespace {

using namespace tench;  // NOLINT: the fuzzer is nothing but calls of the library

template <class T>
bool Read(const Result<T>& result) {
  if (!result.ok())
    Check(result.error().message.find('\n') == std::string::npos,
          "an error has more than one line");
  return result.ok();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto calls = ParseBlasCalls(text, "input"); Read(calls)) (void)CountGemms(*calls);
  const Result<Census> census = DecodeCensus(text);
  if (!Read(census) || census->steps == 0) return 0;
  const Result<Census> again = DecodeCensus(EncodeCensus(*census));
  Check(again.ok() && *again == *census, "a census does not read back");
  (void)RooflineOf(*census);
  (void)LeadingCauses(AlignProfiles({"a", *census, 1}, {"b", *census, 2}));
  return 0;
}
