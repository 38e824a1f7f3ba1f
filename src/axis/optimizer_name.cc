// SPDX-License-Identifier: Apache-2.0
#include "axis/optimizer_name.h"

#include <algorithm>

#include "base/text.h"

namespace tench {
namespace {

struct Setting {
  std::string_view key;
  double OptimizerName::*value;
  double low, high;
  std::vector<std::string> types;  // that use it; empty = all
};

const std::vector<Setting>& Settings() {
  static const std::vector<Setting> settings = {
      {"momentum2", &OptimizerName::momentum2, 0, 1, {"adam"}},
      {"rms_decay", &OptimizerName::rms_decay, 0, 1, {"rmsprop"}},
      {"delta",
       &OptimizerName::delta,
       kMinOptimizerDelta,
       1,
       {"adam", "rmsprop", "adagrad", "adadelta"}},
      {"clip_gradients", &OptimizerName::clip_gradients, 0, kMaxGradientClip, {}},
  };
  return settings;
}

bool Uses(const std::string& type, const Setting& setting) {
  return setting.types.empty() || std::ranges::find(setting.types, type) != setting.types.end();
}

Status SetKey(std::string_view key, std::string_view text, OptimizerName& optimizer) {
  if (key == "regularization") {
    if (text != "l1" && text != "l2")
      return Failed("regularization: '{}' is neither l1 nor l2", Printable(text, 60));
    optimizer.l1 = text == "l1";
    return Ok();
  }
  std::vector<std::string> keys = {"regularization"};
  for (const Setting& setting : Settings()) {
    keys.emplace_back(setting.key);
    if (setting.key != key) continue;
    if (!Uses(optimizer.type, setting)) return Failed("{} has no {}", optimizer.type, key);
    const Result<double> value = ParseReal(text);
    if (!value.ok() || !(*value >= setting.low && *value <= setting.high))
      return Failed("{}: '{}' is not a number from {} to {}", key, Printable(text, 60), setting.low,
                    setting.high);
    optimizer.*setting.value = *value + 0.0;  // -0 becomes 0
    return Ok();
  }
  return Failed("unknown setting '{}'{}", Printable(key, 60), Hint(key, keys));
}

}  // namespace

const std::vector<std::string>& OptimizerTypes() {
  static const std::vector<std::string> types = {"sgd",     "nesterov", "adam",
                                                 "rmsprop", "adagrad",  "adadelta"};
  return types;
}

Result<OptimizerName> ParseOptimizer(std::string_view text) {
  const std::vector<std::string> parts = Split(text, ',');
  OptimizerName optimizer;
  optimizer.type = parts.front();
  if (std::ranges::find(OptimizerTypes(), optimizer.type) == OptimizerTypes().end())
    return Failed("'{}' is not one of {}{}", Printable(optimizer.type, 60),
                  Join(OptimizerTypes(), ", "), Hint(optimizer.type, OptimizerTypes()));
  for (size_t i = 1; i < parts.size(); ++i) {
    const size_t equals = parts[i].find('=');
    if (equals == std::string::npos)
      return Failed("'{}' is not of the form KEY=VALUE", Printable(parts[i], 60));
    const std::string_view part = parts[i];
    TENCH_TRY(SetKey(part.substr(0, equals), part.substr(equals + 1), optimizer));
  }
  return optimizer;
}

std::string ToString(const OptimizerName& optimizer) {
  static const OptimizerName usual;
  std::string text = optimizer.type;
  for (const Setting& setting : Settings()) {
    const double value = optimizer.*setting.value;
    if (Uses(optimizer.type, setting) && value != usual.*setting.value)
      text += fmt::format(",{}={}", setting.key, value);
  }
  if (optimizer.l1) text += ",regularization=l1";
  return text;
}

}  // namespace tench
