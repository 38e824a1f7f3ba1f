// SPDX-License-Identifier: Apache-2.0
#include "cli/axis_flags.h"

#include <algorithm>

#include "base/text.h"

namespace tench {
namespace {

std::string HelpText(const Axis& axis) {
  std::string help = axis.help;
  if (!axis.choices.empty()) help += fmt::format(" ({})", Join(axis.choices, ", "));
  const std::string fallback = axis.Print(axis.fallback);
  if (!fallback.empty()) help += fmt::format(" [{}]", fallback);
  return help;
}

}  // namespace

std::string AxisFlagName(const Axis& axis) {
  std::string name = "--" + axis.name;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

void AxisFlags::AddTo(CLI::App& app, const std::string& group) {
  for (const Axis& axis : Axes()) {
    app.add_option_function<std::string>(
           AxisFlagName(axis),
           [this, name = axis.name](const std::string& text) { texts_[name] = text; },
           HelpText(axis))
        ->group(group)
        ->type_name("");
  }
  AddOptionFlag(app, options_)->group(group);
  AddEnvironmentFlag(app, environment_)->group(group);
}

CLI::Option* AddOptionFlag(CLI::App& app, std::vector<std::string>& texts) {
  return app
      .add_option("--option", texts,
                  "option NAME=VALUE of the worker (tench list workers); repeatable")
      ->type_name("")
      ->take_all();
}

Status SetOptions(const std::vector<std::string>& texts, Cell& cell) {
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      return Failed("--option '{}' is not of the form NAME=VALUE", text);
    TENCH_TRY(cell.Set("option." + text.substr(0, equals), text.substr(equals + 1)));
  }
  return Ok();
}

CLI::Option* AddEnvironmentFlag(CLI::App& app, std::vector<std::string>& texts) {
  return app
      .add_option("--env", texts,
                  "environment variable NAME=VALUE of the worker's process; repeatable")
      ->type_name("")
      ->take_all();
}

Status SetEnvironment(const std::vector<std::string>& texts, Cell& cell) {
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      return Failed("--env '{}' is not of the form NAME=VALUE", Printable(text, 60));
    TENCH_TRY(cell.Set(fmt::format("{}{}", kEnvironmentPrefix, text.substr(0, equals)),
                       text.substr(equals + 1))
                  .In("--env"));
  }
  return Ok();
}

Result<Cell> AxisFlags::ToCell() const {
  Cell cell;
  for (const auto& [name, text] : texts_) TENCH_TRY(cell.Set(name, text));
  TENCH_TRY(SetOptions(options_, cell));
  TENCH_TRY(SetEnvironment(environment_, cell));
  return cell;
}

}  // namespace tench
