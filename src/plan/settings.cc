// SPDX-License-Identifier: Apache-2.0
#include "plan/settings.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "record/target.h"

namespace tench {
namespace {

using Text = std::string_view;

enum class Group { kFixed, kRule, kAny };

constexpr int64_t kMaxSteps = 1'000'000'000;
constexpr int64_t kLeastTuneBudgetNs = 1'000'000'000;
constexpr int64_t kMaxDurationNs = int64_t{365} * 24 * 3600 * 1'000'000'000;

Result<int64_t> Count(std::string_view text, int64_t low, int64_t high) {
  const Result<int64_t> value = ParseInteger(text);
  if (!value.ok() || *value < low || *value > high)
    return Failed("'{}' is not an integer from {} to {}", Printable(text, 60), low, high);
  return *value;
}

Result<int64_t> Duration(std::string_view text, int64_t low) {
  const int64_t value = TENCH_TRY(ParseDuration(text));
  if (value < low) return Failed("'{}' is too short", Printable(text, 60));
  if (value > kMaxDurationNs) return Failed("'{}' is longer than a year", Printable(text, 60));
  return value;
}

// "1%" or "0.01". A bare 1 is rejected, because it most likely means one percent.
Result<double> Share(std::string_view text) {
  const bool percent = text.ends_with('%');
  const Result<double> number = ParseReal(percent ? Trim(text.substr(0, text.size() - 1)) : text);
  const double share = number.ok() ? *number / (percent ? 100 : 1) : 0;
  if (!(share >= 1e-6 && share <= 0.5))
    return Failed("'{}' is not a share up to a half, such as 1% or 0.01", Printable(text, 60));
  return share;
}

// A limit of a few bytes is rejected: a bare 4 most likely means gibibytes.
Result<int64_t> Memory(std::string_view text) {
  constexpr int64_t kLeast = 1 << 20;
  const int64_t bytes = TENCH_TRY(ParseBytes(text));
  if (bytes != 0 && bytes < kLeast)
    return Failed("'{}' is less than 1 MiB; write a unit, as in 4GiB", Printable(text, 60));
  return bytes;
}

// Zero is refused: a tuned cell without a trial would be an untuned one under another name.
Result<int64_t> TuneBudget(std::string_view text) {
  const int64_t ns = TENCH_TRY(Duration(text, 0));
  if (ns < kLeastTuneBudgetNs)
    return Failed("'{}' is too short for a trial, which needs 1s; without tuning, write tuned: no",
                  Printable(text, 60));
  return ns;
}

Result<SwapPolicy> Swap(std::string_view text) {
  static const std::vector<std::string> kWords = {"allow", "kill"};
  if (text == kWords[0]) return SwapPolicy::kAllow;
  if (text == kWords[1]) return SwapPolicy::kKill;
  return Failed("'{}' is neither allow nor kill{}", Printable(text, 60), Hint(text, kWords));
}

// Synthetic samples have labels that nothing can learn.
Result<std::string> TestData(std::string_view text) {
  if (text.find(':') == std::string_view::npos)
    return Failed("'{}' is not FORMAT:PATH, such as mnist:/data/mnist/test", Printable(text, 60));
  return std::string(text);
}

Result<std::string> TargetText(std::string_view text) {
  return ToString(TENCH_TRY(ParseTarget(text)));
}

struct Row {
  std::string_view name;
  Group group;
  Status (*read)(std::string_view text, Settings& settings);
};

template <class T, class Value>
Status Put(Result<Value> value, T& target) {
  if (!value.ok()) return std::move(value).error();
  target = *value;
  return Ok();
}

constexpr std::array<Row, 14> kRows = {{
    {"steps", Group::kFixed,
     [](Text t, Settings& s) { return Put(Count(t, 1, kMaxSteps), s.budget.fixed_steps); }},
    {"epochs", Group::kFixed,
     [](Text t, Settings& s) { return Put(Count(t, 1, 1'000'000), s.budget.epochs); }},
    {"test_data", Group::kAny,
     [](Text t, Settings& s) { return Put(TestData(t), s.budget.test_data); }},
    {"eval_every", Group::kAny,
     [](Text t, Settings& s) { return Put(Count(t, 1, kMaxSteps), s.budget.eval_every); }},
    {"until", Group::kAny, [](Text t, Settings& s) { return Put(TargetText(t), s.budget.until); }},
    {"warmup", Group::kAny,
     [](Text t, Settings& s) { return Put(Count(t, 0, kMaxSteps), s.budget.warmup_steps); }},
    {"min_steps", Group::kRule,
     [](Text t, Settings& s) { return Put(Count(t, 1, kMaxSteps), s.budget.min_steps); }},
    {"min_time", Group::kRule,
     [](Text t, Settings& s) { return Put(Duration(t, 0), s.budget.min_time_ns); }},
    {"interval", Group::kRule,
     [](Text t, Settings& s) { return Put(Share(t), s.budget.relative_interval); }},
    {"time_limit", Group::kRule,
     [](Text t, Settings& s) { return Put(Duration(t, 1), s.budget.time_limit_ns); }},
    {"timeout", Group::kAny,
     [](Text t, Settings& s) { return Put(Duration(t, 1), s.limits.timeout_ns); }},
    {"memory_limit", Group::kAny,
     [](Text t, Settings& s) { return Put(Memory(t), s.limits.memory_bytes); }},
    {"swap", Group::kAny, [](Text t, Settings& s) { return Put(Swap(t), s.limits.swap); }},
    {"tune_budget", Group::kAny,
     [](Text t, Settings& s) { return Put(TuneBudget(t), s.limits.tune_budget_ns); }},
}};

const Row& RowOf(std::string_view name) {
  const auto found =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& row) { return row.name == name; });
  Check(found != kRows.end(), "a setting has no row");
  return *found;
}

}  // namespace

std::span<const std::string> SettingNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Row& row : kRows) result.emplace_back(row.name);
    return result;
  }();
  return names;
}

Status ApplySettings(std::span<const YamlEntry* const> entries, std::string_view origin,
                     Settings& settings) {
  const YamlEntry* fixed = nullptr;
  const YamlEntry* stop_rule = nullptr;
  for (const YamlEntry* entry : entries) {
    const Group group = RowOf(entry->key).group;
    if (group == Group::kFixed && fixed != nullptr)
      return FailedAt(origin, entry->place, "'{}' and '{}' exclude each other", fixed->key,
                      entry->key);
    if (group == Group::kFixed) fixed = entry;
    if (group == Group::kRule) stop_rule = entry;
  }
  if (fixed != nullptr && stop_rule != nullptr)
    return FailedAt(origin, stop_rule->place,
                    "'{}' has no effect beside '{}', which fixes the number of steps",
                    stop_rule->key, fixed->key);
  if (fixed != nullptr || stop_rule != nullptr)
    settings.budget.fixed_steps = settings.budget.epochs = 0;
  for (const YamlEntry* entry : entries) {
    if (entry->value.kind != YamlNode::Kind::kText)
      return FailedAt(origin, entry->value.place, "{}: expected one value, not {}", entry->key,
                      Name(entry->value.kind));
    const Status read = RowOf(entry->key).read(entry->value.text, settings);
    if (!read.ok())
      return FailedAt(origin, entry->value.place, "{}: {}", entry->key, read.error().message);
  }
  return Ok();
}

namespace {

Status CheckEvaluation(const Budget& budget, TextPlace place, std::string_view origin) {
  if (budget.test_data.empty() && budget.eval_every > 0)
    return FailedAt(origin, place, "'eval_every' needs 'test_data'");
  if (budget.until.empty()) return Ok();
  if (budget.test_data.empty()) return FailedAt(origin, place, "'until' needs 'test_data'");
  if (budget.fixed_steps == 0 && budget.epochs == 0)
    return FailedAt(origin, place, "'until' needs a limit: 'epochs' or 'steps'");
  return Ok();
}

}  // namespace

Status CheckSettings(const Settings& settings, TextPlace place, std::string_view origin) {
  const Budget& budget = settings.budget;
  TENCH_TRY(CheckEvaluation(budget, place, origin));
  if (budget.fixed_steps > 0 || budget.epochs > 0) return Ok();
  const auto show = [](int64_t ns) { return HumanNs(static_cast<double>(ns)); };
  if (budget.min_time_ns > budget.time_limit_ns)
    return FailedAt(origin, place, "min_time ({}) is longer than time_limit ({})",
                    show(budget.min_time_ns), show(budget.time_limit_ns));
  if (budget.time_limit_ns >= settings.limits.timeout_ns)
    return FailedAt(
        origin, place,
        "time_limit ({}) is not shorter than timeout ({}): every run would be ended from outside",
        show(budget.time_limit_ns), show(settings.limits.timeout_ns));
  return Ok();
}

}  // namespace tench
