// SPDX-License-Identifier: Apache-2.0
#include "axis/cell.h"

#include <algorithm>

#include "axis/environment_name.h"
#include "base/text.h"

namespace tench {
namespace {

// A frozen search of a large network is a long value. A command line allows 128 KiB per argument.
constexpr size_t kMaxValueBytes = 64 << 10;

bool IsOptionName(std::string_view name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  return !name.empty() && name.size() <= 100 && !name.starts_with(kEnvironmentPrefix) &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

bool IsOptionValue(std::string_view text) {
  return text.size() <= kMaxValueBytes &&
         std::none_of(text.begin(), text.end(), [](char c) { return c >= 0 && c < 0x20; });
}

// Quotes values, so that no value can imitate another axis and give two cells the same id.
std::string Pair(std::string_view name, std::string_view value) {
  return fmt::format("{}={}", name, ShellQuote(value));
}

}  // namespace

std::string SettingName(std::string_view key) {
  return key.starts_with(kEnvironmentPrefix) ? std::string(key)
                                             : fmt::format("{}{}", kOptionPrefix, key);
}

std::optional<std::string> SettingKey(std::string_view name) {
  if (name.starts_with(kEnvironmentPrefix)) return std::string(name);
  if (name.starts_with(kOptionPrefix)) return std::string(name.substr(kOptionPrefix.size()));
  return std::nullopt;
}

std::map<std::string, std::string> OptionsOf(const CellSettings& settings) {
  std::map<std::string, std::string> options;
  for (const auto& [key, value] : settings) {
    if (!key.starts_with(kEnvironmentPrefix)) options.emplace(key, value);
  }
  return options;
}

std::map<std::string, std::string> EnvironmentOf(const CellSettings& settings) {
  std::map<std::string, std::string> variables;
  for (const auto& [key, value] : settings) {
    if (key.starts_with(kEnvironmentPrefix))
      variables.emplace(key.substr(kEnvironmentPrefix.size()), value);
  }
  return variables;
}

std::string SettingsText(const CellSettings& settings) {
  constexpr size_t kLongestShown = 60;
  std::vector<std::string> parts;
  for (const auto& [key, value] : settings)
    parts.push_back(fmt::format("{}={}", key, value.size() > kLongestShown ? "…" : value));
  return Join(parts, " ");
}

Cell::Cell() {
  values.reserve(Axes().size());
  for (const Axis& axis : Axes()) values.push_back(axis.fallback);
}

const std::string& Cell::Text(AxisIndex axis) const { return std::get<std::string>(values[axis]); }
int64_t Cell::Integer(AxisIndex axis) const { return std::get<int64_t>(values[axis]); }
double Cell::Real(AxisIndex axis) const { return std::get<double>(values[axis]); }

Phase Cell::phase() const {
  const auto names = PhaseNames();
  const auto found = std::find(names.begin(), names.end(), Text(kAxisPhase));
  Check(found != names.end(), "a cell has a phase that does not exist");
  return static_cast<Phase>(found - names.begin());
}

Status Cell::Set(std::string_view name, std::string_view text) {
  if (name.starts_with(kOptionPrefix)) {
    const std::string_view option = name.substr(kOptionPrefix.size());
    if (!IsOptionName(option))
      return Failed("'{}' is not the name of an option", Printable(name, 60));
    if (!IsOptionValue(text))
      return Failed("{}: the value has control characters or is too long", name);
    options[std::string(option)] = text;
    return Ok();
  }
  if (name.starts_with(kEnvironmentPrefix)) {
    TENCH_TRY(CheckEnvironmentName(name.substr(kEnvironmentPrefix.size())).In(Printable(name, 60)));
    if (!IsOptionValue(text))
      return Failed("{}: the value has control characters or is too long", name);
    options[std::string(name)] = text;
    return Ok();
  }
  const size_t index = TENCH_TRY(FindAxis(name));
  values[index] = TENCH_TRY(Axes()[index].Parse(text));
  return Ok();
}

std::string Cell::Label() const {
  std::vector<std::string> parts;
  for (size_t i = 0; i < Axes().size(); ++i) {
    const Axis& axis = Axes()[i];
    if (values[i] != axis.fallback) parts.push_back(Pair(axis.name, axis.Print(values[i])));
  }
  for (const auto& [name, value] : options) parts.push_back(Pair(SettingName(name), value));
  return Join(parts, " ");
}

std::string Cell::Id() const { return Hex64(Hash64(Label())); }

std::string Cell::Flags() const {
  std::vector<std::string> parts;
  for (size_t i = 0; i < Axes().size(); ++i) {
    const Axis& axis = Axes()[i];
    if (values[i] == axis.fallback) continue;
    std::string flag = axis.name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    parts.push_back(fmt::format("--{} {}", flag, ShellQuote(axis.Print(values[i]))));
  }
  for (const auto& [name, value] : OptionsOf(options))
    parts.push_back("--option " + ShellQuote(fmt::format("{}={}", name, value)));
  for (const auto& [name, value] : EnvironmentOf(options))
    parts.push_back("--env " + ShellQuote(fmt::format("{}={}", name, value)));
  return Join(parts, " ");
}

Cell WithSettings(const Cell& cell, const CellSettings& settings) {
  Cell executed = cell;
  executed.values[kAxisTuned] = Axes()[kAxisTuned].fallback;
  executed.options.insert(settings.begin(), settings.end());
  return executed;
}

}  // namespace tench
