// SPDX-License-Identifier: Apache-2.0
#include "logs/import/log_import.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "logs/training_log.h"
#include "record/run_flag.h"
#include "run/session/run_summary.h"

namespace tench {
namespace {

constexpr size_t kMaxLogBytes = size_t{1} << 30;
constexpr size_t kKeptTailBytes = 64 << 10;
constexpr std::string_view kNameForm =
    "train_{network}_{mode}_{batch}.log with mode CPU or GPU, e.g. train_alexnet_CPU_016.log";

std::string_view FormatName(LogFormat format) {
  switch (format) {
    case LogFormat::kCaffe:
      return "caffe log";
    case LogFormat::kCaffeTime:
      return "caffe time log";
    case LogFormat::kThesis:
      return "thesis csv";
    case LogFormat::kTensorflow:
      break;
  }
  return "tensorflow log";
}

// The file's modification time, as the end of the training: the time stamps in the log lack the
// zone and often the year.
std::string WrittenUtc(const std::filesystem::path& file) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(file, error);
  if (error) return "";
  const std::time_t seconds =
      std::chrono::system_clock::to_time_t(std::chrono::file_clock::to_sys(written));
  std::tm utc = {};
  gmtime_r(&seconds, &utc);
  char text[32];
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc));
}

Result<RunSeries> SeriesOf(const TrainingLog& log, std::string_view text, const LogImport& import) {
  RunSeries series;
  const auto warmup = static_cast<std::ptrdiff_t>(
      std::min<int64_t>(import.warmup_steps, static_cast<int64_t>(log.step_ns.size())));
  if (!log.step_ns.empty() && static_cast<size_t>(warmup) == log.step_ns.size() &&
      log.failure == TrainingLog::Failure::kNone) {
    return Failed("{}: all of its {} steps are warm-up; use a smaller --warmup",
                  import.file.string(), log.step_ns.size());
  }
  series.warmup_ns.assign(log.step_ns.begin(), log.step_ns.begin() + warmup);
  series.step_ns.assign(log.step_ns.begin() + warmup, log.step_ns.end());
  series.loss = log.loss;
  series.log = text.substr(text.size() - std::min(text.size(), kKeptTailBytes));
  return series;
}

void JudgeLog(const TrainingLog& log, const std::string& source, RunRecord& record) {
  record.reason = "imported from " + source;
  if (log.failure != TrainingLog::Failure::kNone) {
    record.outcome = log.failure == TrainingLog::Failure::kOutOfMemory ? Outcome::kOutOfMemory
                                                                       : Outcome::kCrashed;
    record.reason = fmt::format("{} ({})", log.failure_text, record.reason);
    return;
  }
  const auto lost = std::find_if(log.loss.begin(), log.loss.end(),
                                 [](double loss) { return !std::isfinite(loss); });
  if (lost != log.loss.end()) {
    record.outcome = Outcome::kDiverged;
    record.reason = fmt::format("the loss is {} at step {} ({})", *lost, lost - log.loss.begin(),
                                record.reason);
  }
}

}  // namespace

Result<LogName> ParseLogName(std::string_view name) {
  const auto wrong = [&](std::string_view what) {
    return Failed("'{}' is not named {}: {}; rename it, or use --network, --device and --batch",
                  Printable(name), kNameForm, what);
  };
  std::string_view stem = name;
  if (!stem.starts_with("train_")) return wrong("it does not begin with train_");
  if (!stem.ends_with(".log")) return wrong("it does not end with .log");
  stem.remove_prefix(6);
  stem.remove_suffix(4);
  // From the end, because a network's name may contain underscores.
  const size_t batch = stem.rfind('_');
  const size_t mode = batch == std::string_view::npos || batch == 0 ? std::string_view::npos
                                                                    : stem.rfind('_', batch - 1);
  if (mode == std::string_view::npos || mode == 0) return wrong("a part is missing");
  LogName parsed{std::string(stem.substr(0, mode)),
                 std::string(stem.substr(mode + 1, batch - mode - 1)), 0};
  if (parsed.mode != "CPU" && parsed.mode != "GPU")
    return wrong(fmt::format("'{}' is neither CPU nor GPU", Printable(parsed.mode)));
  const std::string_view digits = stem.substr(batch + 1);
  const Result<int64_t> number = ParseInteger(digits);
  if (!number.ok() || *number < 1 || digits[0] == '+')
    return wrong(fmt::format("'{}' is no batch size", Printable(digits)));
  parsed.batch = *number;
  return parsed;
}

Result<RunResult> ImportLog(const LogImport& import) {
  const std::string text = TENCH_TRY(ReadFile(import.file, kMaxLogBytes));
  const std::string origin = import.file.string();
  const TrainingLog log =
      TENCH_TRY(import.format == LogFormat::kCaffe       ? ReadCaffeLog(text, origin)
                : import.format == LogFormat::kCaffeTime ? ReadCaffeTimeLog(text, origin)
                                                         : ReadTensorflowLog(text, origin));
  return ImportSteps(import, log, text, "");
}

Result<RunResult> ImportSteps(const LogImport& import, const TrainingLog& log,
                              std::string_view text, std::string_view part) {
  std::error_code error;
  const std::string source = std::filesystem::weakly_canonical(import.file, error).string();

  RunResult result;
  result.series = TENCH_TRY(SeriesOf(log, text, import));
  RunRecord& record = result.record;
  record.cell = import.cell;
  record.cell_id = import.cell.Id();
  record.threads = import.cell.Integer(kAxisThreads);
  record.machine = import.machine;
  record.machine_id = import.machine_id;
  record.started_utc = WrittenUtc(import.file);
  record.worker_version = kFlagImported;
  record.rules = kNoRules;
  record.budget.warmup_steps = static_cast<int64_t>(result.series.warmup_ns.size());
  record.budget.fixed_steps = static_cast<int64_t>(result.series.step_ns.size());
  record.worker_json =
      PrintJson(Json{{"imported",
                      {{"format", FormatName(import.format)},
                       {"file", source},
                       {"name", import.file.filename().string() + std::string(part)},
                       {"hash", Hex64(Hash64(text))},
                       {"first_step", log.first_step},
                       {"iterations_per_entry", log.iterations_per_entry}}}});
  const std::string_view flag = import.format == LogFormat::kThesis       ? "thesis-csv"
                                : import.format == LogFormat::kTensorflow ? "tensorflow-log"
                                                                          : "caffe-log";
  record.reproducer =
      fmt::format("tench import --{} {} {}", flag, ShellQuote(source), import.cell.Flags());
  AddSteps(result.series, record.summary);
  record.summary.wall_ns = log.wall_ns;
  JudgeLog(log, source, record);
  record.flags = {kFlagImported};
  if (std::any_of(log.loss.begin(), log.loss.end(), [](double loss) { return loss < 0; }))
    record.flags.push_back(kFlagNegativeLoss);
  if (record.outcome == Outcome::kOk) record.flags.push_back(kFlagUnverified);
  return result;
}

std::optional<std::string> ImportKey(const RunRecord& run) {
  if (!HasFlag(run.flags, kFlagImported)) return {};
  const Json json = Json::parse(run.worker_json, nullptr, false);
  if (!json.is_object() || !json.contains("imported")) return {};
  const Json& imported = json["imported"];
  return fmt::format("{} {}", imported.value("hash", ""), imported.value("name", ""));
}

}  // namespace tench
