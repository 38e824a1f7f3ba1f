// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cell: one point of the matrix. A value per axis, and the settings of its worker: options and
// environment variables. Its id is stable: a hash over "axis=value" of every axis that is not at
// its default, every "option.NAME=VALUE" and every "env.NAME=VALUE", so that an axis added later
// never orphans old results. A plain value.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "axis/axis.h"
#include "base/error.h"
#include "record/phase.h"

namespace tench {

// The prefix of an option's name in suites, filters and labels.
inline constexpr std::string_view kOptionPrefix = "option.";
// The prefix of an environment variable's name in suites, filters, labels and CellSettings.
inline constexpr std::string_view kEnvironmentPrefix = "env.";

// Settings of a worker's process: an option by its name ("layout"), an environment variable by
// "env.NAME". No option has a name with that prefix.
using CellSettings = std::map<std::string, std::string>;

// "layout" -> "option.layout", "env.NAME" -> "env.NAME": the name in suites, filters and labels.
std::string SettingName(std::string_view key);
// The inverse. nullopt for the name of an axis.
std::optional<std::string> SettingKey(std::string_view name);
// The options alone, and the environment variables alone, without their prefix.
std::map<std::string, std::string> OptionsOf(const CellSettings& settings);
std::map<std::string, std::string> EnvironmentOf(const CellSettings& settings);

// "layout=channels_last env.NAME=1", for a reader: the values of frozen searches, which are long,
// are left out.
std::string SettingsText(const CellSettings& settings);

struct Cell {
  std::vector<AxisValue> values;  // one per row of Axes(), starts at the defaults
  CellSettings options;

  Cell();

  const std::string& Text(AxisIndex axis) const;
  int64_t Integer(AxisIndex axis) const;
  double Real(AxisIndex axis) const;
  Phase phase() const;

  // Takes an axis name, "option.NAME" or "env.NAME".
  Status Set(std::string_view name, std::string_view text);

  // "worker=reference network=lenet batch=64": axes that are not at their default, then the
  // settings.
  std::string Label() const;
  // 16 hex digits of the hash of Label().
  std::string Id() const;
  // The same as flags of `tench run`: "--worker reference --network lenet --batch 64 --option
  // layout=nchw --env NAME=VALUE".
  std::string Flags() const;

  bool operator==(const Cell&) const = default;
};

// The cell that a tuned cell executes: its own settings, completed by those of the tuning, with
// `tuned` at its default. An untuned cell is returned unchanged.
Cell WithSettings(const Cell& cell, const CellSettings& settings);

}  // namespace tench
