// SPDX-License-Identifier: Apache-2.0
#pragma once
// The settings of a suite: the length and the limits of a run. They have the same keys in
// `defaults` and in blocks; a block inherits the settings that it does not set. settings.cc holds
// the single table of keys.
// Thread safety: pure functions over passive structs.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "plan/suite.h"
#include "plan/yaml_node.h"
#include "record/budget.h"

namespace tench {

struct Settings {
  Budget budget;
  Limits limits;
};

// The keys, in the order of the documentation.
std::span<const std::string> SettingNames();

// Applies the entries of one map, all with keys of SettingNames(), to `settings`. Fixed steps
// (steps, epochs) and the stop rule (min_steps, min_time, interval, time_limit) are mutually
// exclusive within a map; either replaces inherited settings of the other.
Status ApplySettings(std::span<const YamlEntry* const> entries, std::string_view origin,
                     Settings& settings);

// Rejects inconsistent settings, such as a time limit beyond the timeout. `place` is the block's.
Status CheckSettings(const Settings& settings, TextPlace place, std::string_view origin);

}  // namespace tench
