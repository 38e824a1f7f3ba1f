// SPDX-License-Identifier: Apache-2.0
#include "report/direct_peak.h"

#include <algorithm>

#include "base/json.h"

namespace tench {
namespace {

constexpr std::string_view kWinograd = "winograd";

}  // namespace

bool ChoosesWinograd(const std::string& choices_json) {
  // A fast check, because most choices lack the word, and there may be a hundred thousand runs.
  if (choices_json.find(kWinograd) == std::string::npos) return false;
  const Json choices = Json::parse(choices_json, nullptr, false);
  if (!choices.is_object()) return false;
  return std::any_of(choices.begin(), choices.end(), [](const Json& choice) {
    return choice.is_string() &&
           choice.get_ref<const std::string&>().find(kWinograd) != std::string::npos;
  });
}

DirectPeaks::DirectPeaks(std::span<const StudyRecord> studies) {
  for (const StudyRecord& study : studies) {
    const Json host = Json::parse(study.host_json, nullptr, false);
    if (!host.is_object() || !host.contains("peak") || !host["peak"].is_array()) continue;
    for (const Json& peak : host["peak"]) {
      const bool whole = peak.is_object() && peak.contains("threads") &&
                         peak["threads"].is_number_integer() && peak.contains("flops_per_s") &&
                         peak["flops_per_s"].is_number();
      if (!whole) continue;
      double& known = peaks_[{study.machine_id, peak["threads"].get<int64_t>()}];
      known = std::max(known, peak["flops_per_s"].get<double>());
    }
  }
}

std::optional<double> DirectPeaks::FlopsPerSecond(const std::string& machine_id,
                                                  int64_t threads) const {
  const auto found = peaks_.find({machine_id, threads});
  return found == peaks_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tench
