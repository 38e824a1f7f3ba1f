// SPDX-License-Identifier: Apache-2.0
#include "cli/measure_flags.h"

#include "base/text.h"
#include "record/target.h"

namespace tench {
namespace {

constexpr const char* kGroup = "How to measure";
constexpr int64_t kMaxSteps = 1'000'000'000;

Status ReadCount(const std::string& text, const char* flag, int64_t low, int64_t& into) {
  if (text.empty()) return Ok();
  const int64_t value = TENCH_TRY(ParseInteger(text).In(flag));
  if (value < low || value > kMaxSteps)
    return Failed("{}: {} is not from {} to {}", flag, value, low, kMaxSteps);
  into = value;
  return Ok();
}

Status ReadDuration(const std::string& text, const char* flag, int64_t& into) {
  if (text.empty()) return Ok();
  into = TENCH_TRY(ParseDuration(text).In(flag));
  if (into <= 0) return Failed("{}: '{}' is not a positive duration", flag, text);
  return Ok();
}

Status CheckEvaluation(const Budget& budget) {
  if (budget.test_data.empty()) {
    if (budget.eval_every > 0) return Failed("--eval-every needs --test-data");
    if (!budget.until.empty()) return Failed("--until needs --test-data");
    return Ok();
  }
  if (budget.test_data.find(':') == std::string::npos)
    return Failed("--test-data: '{}' is not FORMAT:PATH, such as mnist:/data/mnist/test",
                  Printable(budget.test_data, 60));
  if (!budget.until.empty() && budget.fixed_steps == 0 && budget.epochs == 0)
    return Failed("--until needs a limit: --epochs or --steps");
  return Ok();
}

}  // namespace

void MeasureFlags::AddTo(CLI::App& app) {
  const auto add = [&](const char* name, std::string& text, const char* help) {
    app.add_option(name, text, help)->group(kGroup)->type_name("");
  };
  add("--steps", steps_, "number of timed steps, instead of the stop rule");
  add("--epochs", epochs_,
      "number of epochs, instead of the stop rule: floor(images / batch) steps each");
  add("--test-data", test_data_,
      "test split, as FORMAT:PATH: evaluate loss and accuracy before, during and after the steps");
  add("--eval-every", eval_every_, "steps from one evaluation to the next [an epoch]");
  add("--until", until_,
      "end the run at this result on the test split, \"accuracy >= X\" or \"loss <= X\"; --epochs "
      "or --steps limits it");
  add("--warmup", warmup_, "untimed steps at the start [3]");
  add("--min-steps", min_steps_, "stop rule: minimum of timed steps [10]");
  add("--min-time", min_time_, "stop rule: minimum of timed work, e.g. 0.5s [500ms]");
  add("--interval", interval_, "stop rule: relative 95 % interval of the median to reach [1%]");
  add("--time-limit", time_limit_,
      "stop rule: maximum of timed work after --min-steps; then `unconverged` [30s]");
  add("--timeout", timeout_, "limit for the whole run, e.g. 90s, 10m [10m]");
  add("--memory-limit", memory_limit_,
      "limit for resident set + swap, e.g. 8GiB [the machine's memory less a reserve]");
  add("--swap", swap_,
      "allow: swapping sets a flag; kill: swapping ends the run as out_of_memory [allow]");
  add("--tune-budget", tune_budget_,
      "with --tuned yes: maximum of wall time for its trials, at least 1s [30s]");
}

Result<Budget> MeasureFlags::ToBudget() const {
  Budget budget;
  if (!steps_.empty() && !epochs_.empty()) return Failed("--steps and --epochs exclude each other");
  TENCH_TRY(ReadCount(steps_, "--steps", 1, budget.fixed_steps));
  TENCH_TRY(ReadCount(epochs_, "--epochs", 1, budget.epochs));
  TENCH_TRY(ReadCount(warmup_, "--warmup", 0, budget.warmup_steps));
  TENCH_TRY(ReadCount(min_steps_, "--min-steps", 1, budget.min_steps));
  TENCH_TRY(ReadDuration(min_time_, "--min-time", budget.min_time_ns));
  TENCH_TRY(ReadDuration(time_limit_, "--time-limit", budget.time_limit_ns));
  budget.test_data = test_data_;
  TENCH_TRY(ReadCount(eval_every_, "--eval-every", 1, budget.eval_every));
  budget.until = ToString(TENCH_TRY(ParseTarget(until_).In("--until")));
  TENCH_TRY(CheckEvaluation(budget));
  if (!interval_.empty()) {
    const bool percent = interval_.ends_with('%');
    const std::string number = percent ? interval_.substr(0, interval_.size() - 1) : interval_;
    budget.relative_interval = TENCH_TRY(ParseReal(number).In("--interval")) / (percent ? 100 : 1);
    if (!(budget.relative_interval > 0 && budget.relative_interval < 1)) {
      return Failed("--interval: '{}' is not between 0 and 100 %", interval_);
    }
  }
  return budget;
}

Result<Limits> MeasureFlags::ToLimits() const {
  Limits limits;
  TENCH_TRY(ReadDuration(timeout_, "--timeout", limits.timeout_ns));
  TENCH_TRY(ReadDuration(tune_budget_, "--tune-budget", limits.tune_budget_ns));
  if (limits.tune_budget_ns < 1'000'000'000)
    return Failed("--tune-budget: '{}' is too short for a trial, which needs 1s", tune_budget_);
  if (!memory_limit_.empty()) {
    limits.memory_bytes = TENCH_TRY(ParseBytes(memory_limit_).In("--memory-limit"));
    if (limits.memory_bytes <= 0)
      return Failed("--memory-limit: '{}' is not a positive size", memory_limit_);
  }
  if (swap_ == "kill") {
    limits.swap = SwapPolicy::kKill;
  } else if (!swap_.empty() && swap_ != "allow") {
    return Failed("--swap: '{}' is neither allow nor kill", swap_);
  }
  return limits;
}

}  // namespace tench
