// SPDX-License-Identifier: Apache-2.0
#include "report/run_text.h"

#include "base/json.h"
#include "base/text.h"
#include "record/run_flag.h"
#include "record/worker_version.h"
#include "report/direct_peak.h"
#include "report/record_json.h"
#include "report/run_energy.h"
#include "report/text_table.h"
#include "report/tuning_text.h"

namespace tench {
namespace {

constexpr size_t kCurveRows = 60;
constexpr size_t kValueColumn = 19;

void Row(std::string& out, std::string_view name, std::string_view value) {
  out += fmt::format("  {:<16} {}\n", name, value);
}

// Every line within `width`, continued in the column of the values.
std::string Wrapped(const std::string& text, size_t width) {
  std::string out;
  for (const std::string& line : Split(text, '\n')) {
    if (!line.empty()) out += WrapText(line, width, kValueColumn) + '\n';
  }
  return out;
}

void AppendTimes(std::string& out, const RunRecord& record) {
  const RunSummary& s = record.summary;
  if (!s.step_ns_median) return;
  std::string step = HumanNs(*s.step_ns_median);
  if (s.step_ns_low && s.step_ns_high)
    step += fmt::format("  (95 %: {} … {})", HumanNs(*s.step_ns_low), HumanNs(*s.step_ns_high));
  Row(out, "time per step", step);
  Row(out, "time per image", HumanNs(*ImageNs(record)));
  if (const auto rate = ImagesPerSecond(record))
    Row(out, "images per s", fmt::format("{:.4g}", *rate));
  if (const auto rate = FlopsPerSecond(record)) {
    const bool winograd = ChoosesWinograd(record.choices_json);
    Row(out, "GFLOP/s",
        fmt::format("{:.4g}{}  ({:.4g} GFLOP per step{})", *rate / 1e9,
                    winograd ? " effective" : "", static_cast<double>(record.step_flops) / 1e9,
                    winograd ? "; Winograd convolutions execute less" : ""));
  }
  Row(out, "on the clock", OnTheClock(record.cell));
  Row(out, "steps",
      fmt::format("{} timed, {} warm-up{}", s.steps, s.warmup_steps,
                  s.converged.value_or(true)
                      ? ""
                      : "; time limit reached before convergence (unconverged)"));
  if (s.input_ns_median)
    Row(out, "time per input", HumanNs(*s.input_ns_median) + "  (not part of the step)");
  if (s.loading_ns_per_image)
    Row(out, "loading",
        HumanNs(*s.loading_ns_per_image) + " per image  (CPU time of the data threads)");
  if (s.end_to_end_ns_per_image)
    Row(out, "end to end", HumanNs(*s.end_to_end_ns_per_image) + " per image  (step and input)");
}

void AppendTest(std::string& out, const RunRecord& record) {
  const RunSummary& s = record.summary;
  if (!s.test_loss) return;
  std::string test = fmt::format("loss {:.6g}", *s.test_loss);
  if (s.test_top1) test += fmt::format(", top-1 {:.2f} %", 100 * *s.test_top1);
  if (s.test_top5) test += fmt::format(", top-5 {:.2f} %", 100 * *s.test_top5);
  if (s.evaluation_ns)
    test += fmt::format("  (evaluations: {})", HumanNs(static_cast<double>(*s.evaluation_ns)));
  Row(out, "test split", test);
  if (record.budget.until.empty()) return;
  std::string target = record.budget.until + ": not reached";
  if (s.target_ns) {
    target = fmt::format("{}: reached after {} of training", record.budget.until,
                         HumanNs(static_cast<double>(*s.target_ns)));
    if (s.target_epochs) target += fmt::format(", {:.4g} epochs", *s.target_epochs);
  }
  Row(out, "target", target);
}

void AppendCosts(std::string& out, const RunRecord& record) {
  const RunSummary& s = record.summary;
  if (s.first_loss && s.last_loss)
    Row(out, "loss", fmt::format("{:.6g} -> {:.6g}", *s.first_loss, *s.last_loss));
  if (s.steps_peak_rss_bytes) {
    Row(out, "peak memory",
        fmt::format("{} in the steps, {} in the build, {} before",
                    HumanBytes(*s.steps_peak_rss_bytes),
                    HumanBytes(s.build_peak_rss_bytes.value_or(0)),
                    HumanBytes(s.rss_before_build_bytes.value_or(0))));
  } else if (s.sampled_peak_rss_bytes && (s.build_ns || record.outcome == Outcome::kOutOfMemory)) {
    Row(out, "peak memory", HumanBytes(*s.sampled_peak_rss_bytes) + "  (sampled)");
  }
  if (s.peak_swap_bytes.value_or(0) > 0) Row(out, "peak swap", HumanBytes(*s.peak_swap_bytes));
  if (s.build_ns) {
    Row(out, "build",
        HumanNs(static_cast<double>(*s.build_ns)) +
            (s.hello_ns ? fmt::format("  (start-up {})", HumanNs(static_cast<double>(*s.hello_ns)))
                        : ""));
  }
  if (s.first_step_ns) Row(out, "to first step", HumanNs(static_cast<double>(*s.first_step_ns)));
  if (s.tune_ns) {
    Row(out, "tuning", TuningCostText(s));
    Row(out, "settings", record.settings.empty() ? "default" : SettingsText(record.settings));
  }
  if (s.cpu_per_wall)
    Row(out, "CPU per wall", fmt::format("{:.2f}  (threads: {})", *s.cpu_per_wall, record.threads));
  if (const auto joules = ImageEnergyJ(record)) {
    Row(out, "CPU energy",
        fmt::format("{} per image  ({}, whole machine, {} readings over {}){}", EnergyText(*joules),
                    s.energy_packages, s.energy_readings.value_or(0),
                    HumanNs(static_cast<double>(s.energy_window_ns.value_or(0))),
                    IdleEnergyShare(record)
                        ? fmt::format(", idle share {:.0f} %", 100 * *IdleEnergyShare(record))
                        : ""));
  } else if (s.cpu_energy_j) {
    Row(out, "CPU energy", fmt::format("{:.1f} J  (whole run)", *s.cpu_energy_j));
  }
  if (s.gpu_power_w_mean) {
    Row(out, "GPU",
        fmt::format("{:.0f} % use, {:.1f} W mean, {:.1f} W peak, {}", s.gpu_use_mean.value_or(0),
                    *s.gpu_power_w_mean, s.gpu_power_w_peak.value_or(0),
                    HumanBytes(s.gpu_memory_peak_bytes.value_or(0))));
  }
}

void AppendDetails(std::string& out, const RunRecord& record) {
  Row(out, "network",
      fmt::format("{} parameters, {:.4g} GFLOP forward per image, fingerprint {}",
                  record.parameters, static_cast<double>(record.forward_flops_per_image) / 1e9,
                  record.fingerprint));
  Row(out, "cell", record.cell_id);
  if (!record.build.empty()) Row(out, "build", record.build);
  if (!record.cpu_model.empty())
    Row(out, "CPU", fmt::format("{}  ({})", record.cpu_model, record.isa));
  if (!record.summary.energy_problem.empty())
    Row(out, "energy", "none: " + record.summary.energy_problem);
  Row(out, "rules", fmt::format("{}", record.rules));
  Row(out, "overhead",
      HumanNs(static_cast<double>(record.summary.overhead_ns)) + "  (outside of the worker)");
  const Json worker = Json::parse(record.worker_json, nullptr, false);
  if (worker.is_object() && worker.contains("libraries")) {
    for (const Json& library : worker["libraries"])
      Row(out, "library", library.is_string() ? library.get<std::string>() : "?");
  }
  for (const auto& [name, text] : {std::pair("choice", &record.choices_json),
                                   std::pair("environment", &record.environment_json)}) {
    const Json values = Json::parse(*text, nullptr, false);
    if (!values.is_object()) continue;
    for (const auto& [key, value] : values.items()) {
      Row(out, name,
          fmt::format("{}={}", key, value.is_string() ? value.get<std::string>() : value.dump()));
    }
  }
}

}  // namespace

std::string_view FlagMeaning(std::string_view flag) {
  if (flag == kFlagNegativeLoss)
    return "a cross-entropy is never negative; rounding shows one near zero as below it. Caffe "
           "displays a running mean of its loss, which drifts below zero while the loss itself "
           "stays positive (BVLC/caffe#3029)";
  if (flag == kFlagGradientsNotMaterialized)
    return "the worker does not say that every step writes every gradient to memory; a step that "
           "leaves some out is not comparable";
  if (flag == kFlagRecompiled)
    return "the worker compiled code during the timed steps; their times include it";
  if (flag == kFlagIsaExceeded)
    return "a library used wider vector instructions than the axis isa allows";
  if (flag == kFlagIsaUnverified) return "no library reported which vector instructions it used";
  if (flag == kFlagProfiled)
    return "every kernel was measured, which makes steps slower; the run is never ranked";
  if (flag == kFlagImported)
    return "read from a log (tench import): neither measured nor verified here";
  return "";
}

std::string OnTheClock(const Cell& cell) {
  const std::string input = cell.Text(kAxisInput) == "cycled"
                                ? "; a new batch every step, timed separately"
                                : "; one resident batch";
  switch (cell.phase()) {
    case Phase::kForward:
      return "forward: inference and its loss" + input;
    case Phase::kGradient:
      return "gradient: training forward and backward, no update" + input;
    case Phase::kTrain:
      return "train: training forward, backward and update" + input;
  }
  return {};
}

std::string RunText(const RunRecord& record, bool verbose, size_t width) {
  std::string out = fmt::format("{}\n", record.cell.Label());
  Row(out, "outcome", Name(record.outcome) + (record.reason.empty() ? "" : ": " + record.reason));
  if (!record.worker_version.empty())
    Row(out, "worker",
        record.cell.Text(kAxisWorker) + " " + ShownVersion(record.worker_version, record.build));
  AppendTimes(out, record);
  AppendTest(out, record);
  AppendCosts(out, record);
  if (!record.flags.empty()) Row(out, "flags", Join(record.flags, ", "));
  for (const std::string& flag : record.flags) {
    if (const std::string_view meaning = FlagMeaning(flag); !meaning.empty())
      Row(out, flag, meaning);
  }
  if (verbose) AppendDetails(out, record);
  if (width > 0) out = Wrapped(out, width);
  // Not broken, so that it can be copied.
  if (verbose || record.outcome != Outcome::kOk) Row(out, "reproduce", record.reproducer);
  return out;
}

std::string LossCurveText(const RunSeries& series) {
  std::string out = "\n    step  loss\n";
  const size_t count = series.loss.size();
  const size_t rows = std::min(count, kCurveRows);
  for (size_t i = 0; i < rows; ++i) {
    const size_t step = rows == 1 ? 0 : i * (count - 1) / (rows - 1);
    out += fmt::format("{:>8}  {:.6g}{}\n", step, series.loss[step],
                       step < series.warmup_ns.size() ? "  (warm-up)" : "");
  }
  return out;
}

std::string ProgressText(const Cell& cell, const std::string& stage, int64_t steps,
                         double last_step_ns, double loss, int64_t rss_bytes, int64_t elapsed_ns) {
  std::string text = fmt::format("{} {} b{}: {}", cell.Text(kAxisWorker), cell.Text(kAxisNetwork),
                                 cell.Integer(kAxisBatch), stage);
  if (steps > 0)
    text += fmt::format(", {} steps, {} each, loss {:.4g}", steps, HumanNs(last_step_ns), loss);
  if (rss_bytes > 0) text += ", " + HumanBytes(rss_bytes);
  return text + fmt::format(", {:.0f} s", static_cast<double>(elapsed_ns) / 1e9);
}

}  // namespace tench
