// SPDX-License-Identifier: Apache-2.0
#include "worker/common_settings.h"

#include "worker/process_facts.h"

namespace tench {

void AddCommonSettings(Description& description) {
  description.options.push_back({kFlushToZeroOption,
                                 "on: denormal numbers are read and written as zero",
                                 "off",
                                 {"off", "on"}});
  AddHugePagesCandidate(description);
  description.tuning.push_back(
      {.options = {{kFlushToZeroOption, "on"}}, .environment = {}, .phases = {}, .ops = {}});
}

void AddHugePagesCandidate(Description& description) {
  description.tuning.push_back({.options = {},
                                .environment = {{"GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"}},
                                .phases = {},
                                .ops = {}});
}

void AddSpinCandidate(Description& description) {
  description.tuning.push_back(
      {.options = {}, .environment = {{"GOMP_SPINCOUNT", "30000"}}, .phases = {}, .ops = {}});
}

void ApplyCommonSettings(const Job& job) {
  const auto found = job.options.find(kFlushToZeroOption);
  if (found != job.options.end() && found->second == "on") SetFlushToZero();
}

}  // namespace tench
