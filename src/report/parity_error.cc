// SPDX-License-Identifier: Apache-2.0
#include "report/parity_error.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace tench {
namespace {

constexpr std::string_view kTimedPrefix = "timed ";  // run/session/job_axes.h
constexpr std::string_view kRulesPart = "rules=";
constexpr int64_t kLastUnnamedRules = 3;

}  // namespace

bool SettingHolds(const std::string& setting, const Cell& cell, int64_t rules) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : cell.options)
    parts.push_back(fmt::format("{}={}", SettingName(name), value));
  const size_t options = parts.size();
  for (size_t i = 0; i < Axes().size(); ++i)
    parts.push_back(Axes()[i].name + "=" + Axes()[i].Print(cell.values[i]));
  parts.push_back(fmt::format("{}{}", kRulesPart, rules));
  if (rules > kLastUnnamedRules && setting.find(kRulesPart) == std::string::npos) return false;
  std::vector<bool> seen(parts.size());
  // Matched as text, not split, because values of options may contain blanks.
  std::string_view rest = setting;
  if (rest.starts_with(kTimedPrefix)) rest.remove_prefix(kTimedPrefix.size());
  while (!rest.empty()) {
    size_t longest = parts.size();
    for (size_t i = 0; i < parts.size(); ++i) {
      const std::string& part = parts[i];
      const bool matches =
          rest.starts_with(part) && (rest.size() == part.size() || rest[part.size()] == ' ');
      if (matches && (longest == parts.size() || part.size() > parts[longest].size())) longest = i;
    }
    if (longest == parts.size()) return false;
    seen[longest] = true;
    rest.remove_prefix(std::min(rest.size(), parts[longest].size() + 1));
  }
  return std::all_of(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(options),
                     [](bool is_seen) { return is_seen; });
}

const ParityRecord* FindParity(std::span<const ParityRecord> parities, const Cell& cell,
                               const std::string& worker_version, const std::string& build,
                               const std::string& fingerprint, int64_t rules) {
  const std::string& text = cell.Text(kAxisWorker);
  const std::string worker = text.substr(0, text.find('@'));
  const ParityRecord* worst = nullptr;
  for (const ParityRecord& parity : parities) {
    const ParityKey& key = parity.key;
    const bool holds = key.worker == worker && key.worker_version == worker_version &&
                       key.build == build && key.fingerprint == fingerprint &&
                       SettingHolds(key.setting, cell, rules);
    if (holds && (worst == nullptr || worst->worst < parity.worst)) worst = &parity;
  }
  return worst;
}

}  // namespace tench
