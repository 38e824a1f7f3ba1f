// SPDX-License-Identifier: Apache-2.0
#include "store/live_progress.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/json.h"
#include "base/text.h"

namespace tench {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;
constexpr int64_t kAny = int64_t{1} << 62;

Json ToJson(const LiveRun& run) {
  Json losses = Json::array();
  for (const LiveLoss& point : run.losses) losses.push_back({point.step, RealToJson(point.loss)});
  return {{"worker", run.worker},       {"network", run.network},
          {"phase", run.phase},         {"label", run.label},
          {"stage", run.stage},         {"batch", run.batch},
          {"steps", run.steps},         {"last_step_ns", RealToJson(run.last_step_ns)},
          {"rss_bytes", run.rss_bytes}, {"losses", std::move(losses)}};
}

Json ToJson(const LiveProgress& progress, const ProcessIdentity& process) {
  Json json = {{"pid", process.pid},          {"start_ticks", process.start_ticks},
               {"boot_id", process.boot_id},  {"machine_id", process.machine_id},
               {"study", progress.study},     {"done", progress.done},
               {"total", progress.total},     {"round", progress.round},
               {"rounds", progress.rounds},   {"disturbed", progress.disturbed},
               {"repeats", progress.repeats}, {"eta_ns", RealToJson(progress.eta_ns)}};
  if (progress.run) json["run"] = ToJson(*progress.run);
  return json;
}

Result<LiveRun> RunFrom(const Json& json) {
  Fields fields(json, "run");
  LiveRun run;
  run.worker = fields.String("worker");
  run.network = fields.String("network");
  run.phase = fields.String("phase");
  run.label = fields.String("label");
  run.stage = fields.String("stage");
  run.batch = fields.Integer("batch", 0, kAny);
  run.steps = fields.Integer("steps", 0, kAny);
  run.last_step_ns = fields.Real("last_step_ns");
  run.rss_bytes = fields.Integer("rss_bytes", -kAny, kAny);
  for (const Json& point : fields.Array("losses")) {
    if (!point.is_array() || point.size() != 2 || !point[0].is_number_integer())
      return Failed("losses: each is a step and a loss");
    run.losses.push_back({point[0].get<int64_t>(), TENCH_TRY(RealFromJson(point[1]))});
  }
  TENCH_TRY(fields.Finish());
  return run;
}

Result<LiveProgress> ProgressFrom(const Json& json, ProcessIdentity& process) {
  Fields fields(json, "progress");
  process.pid = fields.Integer("pid", 0, kAny);
  process.start_ticks = fields.Integer("start_ticks", 0, kAny);
  process.boot_id = fields.String("boot_id");
  process.machine_id = fields.String("machine_id");
  LiveProgress progress;
  progress.study = fields.Integer("study", 0, kAny);
  progress.done = fields.Integer("done", 0, kAny);
  progress.total = fields.Integer("total", 0, kAny);
  progress.round = fields.Integer("round", 0, kAny);
  progress.rounds = fields.Integer("rounds", 0, kAny);
  progress.disturbed = fields.Integer("disturbed", 0, kAny);
  progress.repeats = fields.Integer("repeats", 0, kAny);
  progress.eta_ns = fields.Real("eta_ns");
  if (fields.Has("run")) progress.run = TENCH_TRY(RunFrom(fields.Object("run")));
  TENCH_TRY(fields.Finish());
  return progress;
}

std::string HeadOf(std::string_view text) {
  return fmt::format("{} {}\n", Hex64(Hash64(text)), text.size());
}

// The JSON text if the file holds a whole one.
std::optional<std::string_view> WholeText(std::string_view file) {
  const size_t line = file.find('\n');
  if (line == std::string_view::npos) return std::nullopt;
  const std::vector<std::string> words = Split(file.substr(0, line), ' ');
  if (words.size() != 2) return std::nullopt;
  const Result<int64_t> length = ParseInteger(words[1]);
  const std::string_view rest = file.substr(line + 1);
  if (!length.ok() || *length < 0 || static_cast<size_t>(*length) > rest.size())
    return std::nullopt;
  const std::string_view text = rest.substr(0, static_cast<size_t>(*length));
  if (!file.starts_with(HeadOf(text))) return std::nullopt;
  return text;
}

}  // namespace

std::filesystem::path LiveProgressPath(const std::filesystem::path& database, int64_t study) {
  return fmt::format("{}-live-{}", database.string(), study);
}

Result<LiveProgressFile> LiveProgressFile::Create(const std::filesystem::path& database,
                                                  int64_t study) {
  std::filesystem::path path = LiveProgressPath(database, study);
  Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.valid()) return Failed("{}: {}", path.string(), std::strerror(errno));
  return LiveProgressFile(std::move(path), std::move(file));
}

LiveProgressFile::~LiveProgressFile() {
  if (!path_.empty()) unlink(path_.c_str());
}

Status LiveProgressFile::Write(const LiveProgress& progress) {
  const std::string text = PrintJson(ToJson(progress, process_));
  const std::string whole = HeadOf(text) + text;
  const ssize_t written = pwrite(file_.get(), whole.data(), whole.size(), 0);
  if (written != static_cast<ssize_t>(whole.size()))
    return Failed("{}: {}", path_.string(), written < 0 ? std::strerror(errno) : "half written");
  return Ok();
}

std::optional<LiveProgress> ReadLiveProgress(const std::filesystem::path& database, int64_t study) {
  constexpr int kAttempts = 4;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (attempt > 0) usleep(1000);
    const Result<std::string> file = ReadFile(LiveProgressPath(database, study), kMaxBytes);
    if (!file.ok()) return std::nullopt;
    const std::optional<std::string_view> text = WholeText(*file);
    if (!text) continue;
    const Result<Json> json = ParseJson(*text, "progress");
    if (!json.ok() || !json->is_object()) return std::nullopt;
    ProcessIdentity process;
    Result<LiveProgress> progress = ProgressFrom(*json, process);
    if (!progress.ok() || progress->study != study || LifeOf(process) == ProcessLife::kDead)
      return std::nullopt;
    return *std::move(progress);
  }
  return std::nullopt;
}

}  // namespace tench
