// SPDX-License-Identifier: Apache-2.0
#pragma once
// The settings of a suite: how long a run measures and what it may take. They stand in `defaults`
// and in blocks under the same keys; what a block does not say is taken from the defaults. Passive;
// settings.cc holds the one table of keys.

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

// Changes `settings` by the entries of one map, all of which have keys of SettingNames(). Fixed
// steps (steps, epochs) and the stop rule (min_steps, min_time, interval, time_limit) exclude each
// other within the map; either replaces the other's settings from before.
Status ApplySettings(std::span<const YamlEntry* const> entries, std::string_view origin,
                     Settings& settings);

// Settings that are fine alone but not together, such as a time limit beyond the timeout. `place`
// is that of the block.
Status CheckSettings(const Settings& settings, TextPlace place, std::string_view origin);

}  // namespace tench
