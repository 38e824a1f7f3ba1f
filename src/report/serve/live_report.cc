// SPDX-License-Identifier: Apache-2.0
#include "report/serve/live_report.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

#include "base/clock.h"
#include "base/json.h"
#include "report/html/page.h"
#include "report/serve/assets.h"
#include "report/serve/live_ranking.h"
#include "store/live_progress.h"

namespace tench {
namespace {

// Differs after a commit, which writes the file itself or its write-ahead log.
struct FileState {
  ino_t inode = 0;
  std::array<int64_t, 6> changes = {};
  bool operator==(const FileState&) const = default;
};

Result<FileState> StateOf(const std::filesystem::path& path) {
  struct stat file = {}, log = {};
  if (stat(path.c_str(), &file) != 0) return Failed("{}: the file is gone", path.string());
  if (stat((path.string() + "-wal").c_str(), &log) != 0) log = {};
  return FileState{file.st_ino,
                   {file.st_size, file.st_mtim.tv_sec, file.st_mtim.tv_nsec, log.st_size,
                    log.st_mtim.tv_sec, log.st_mtim.tv_nsec}};
}

// A text that is computed when it is asked for and stale.
struct Cached {
  std::string text;
  int64_t version = -1;
  int64_t fresh_until_ns = 0;
};

Json RunJson(const LiveRun& run) {
  Json losses = Json::array();
  for (const LiveLoss& point : run.losses) {
    losses.push_back({point.step, std::isfinite(point.loss) ? Json(point.loss) : Json(nullptr)});
  }
  return {{"worker", run.worker},       {"network", run.network},
          {"phase", run.phase},         {"batch", run.batch},
          {"label", run.label},         {"stage", run.stage},
          {"steps", run.steps},         {"step_ms", run.last_step_ns / 1e6},
          {"rss_bytes", run.rss_bytes}, {"losses", std::move(losses)}};
}

}  // namespace

class LiveReport::Impl {
 public:
  Impl(LiveReportOptions options, Store store, FileState file)
      : options_(std::move(options)), store_(std::move(store)), file_(file) {}

  std::mutex mutex;

  Result<std::string> Page() {
    TENCH_TRY(Refresh());
    return Serve(page_, [&]() -> Result<std::string> {
      const ReportData data = study_ ? TENCH_TRY(ReadReport(store_, Selection())) : ReportData();
      PageOptions page;
      page.title = options_.title;
      page.made_utc = UtcNow();
      page.charts_script = options_.charts_script;
      const std::string section = SectionText();
      page.live = {section, kLiveStyle, kLiveScript};
      return RenderPage(data, MakeCharts(data), page);
    });
  }

  Result<std::string> State() {
    TENCH_TRY(Refresh());
    if (!study_) return PrintJson({{"version", version_}, {"state", "waiting"}});
    const std::optional<LiveProgress> live = ReadLiveProgress(options_.database, study_->id);
    // A run is stored before the progress counts it, so the version has every run counted here.
    TENCH_TRY(Refresh());
    Json json = {{"version", version_}};
    json["study"] = study_->id;
    json["suite"] = study_->suite;
    json["machine"] = study_->machine;
    if (!live) {
      const int64_t planned = study_->cells * study_->rounds;
      json["state"] = finished_ >= planned ? "complete" : "stopped";
      json["done"] = std::min(finished_, planned);
      json["total"] = planned;
      return PrintJson(json);
    }
    json["state"] = "running";
    json["done"] = live->done;
    json["total"] = live->total;
    json["round"] = live->round + 1;
    json["rounds"] = live->rounds;
    json["disturbed"] = live->disturbed;
    json["repeats"] = live->repeats;
    json["eta_s"] = live->eta_ns / 1e9;
    if (live->run) json["run"] = RunJson(*live->run);
    return PrintJson(json);
  }

  Result<std::string> Summary() {
    TENCH_TRY(Refresh());
    return Serve(summary_, [&]() -> Result<std::string> {
      Json parts = Json::object();
      if (study_) {
        const ReportData data = TENCH_TRY(ReadSummary());
        parts["live-ranking"] = LiveRanking(data.ranking);
        for (const auto& [id, html] : SummaryParts(data)) parts[id] = html;
      }
      return PrintJson({{"version", version_}, {"parts", std::move(parts)}});
    });
  }

 private:
  // The page knows from its own section which runs it shows.
  std::string SectionText() const {
    std::string section(kLiveSection);
    const std::string hole = "VERSION";
    section.replace(section.find(hole), hole.size(), std::to_string(version_));
    return section;
  }

  RankOptions Selection() const {
    RankOptions rank;
    if (study_) rank.studies = {study_->id};
    rank.only = options_.only;
    rank.all_roles = options_.all_roles;
    return rank;
  }

  // The report's data without series, which are most of a results file.
  Result<ReportData> ReadSummary() {
    const RankOptions rank = Selection();
    ReportBuilder builder(rank.all_roles);
    std::vector<StudyRecord> studies = TENCH_TRY(ReadRuns(
        store_, rank, [&](const RunRecord& run) { builder.Add(run); },
        [&](const RunRecord& run) { builder.Observe(run); }));
    ReportData data =
        TENCH_TRY(std::move(builder).Finish([](int64_t) { return Result<RunSeries>(RunSeries()); },
                                            [&](Ranking& ranking) {
                                              ranking.SetStudies(std::move(studies));
                                              return Ok();
                                            }));
    data.parities = TENCH_TRY(store_.Parities());
    return data;
  }

  Result<std::string> Serve(Cached& cached, const std::function<Result<std::string>()>& compute) {
    const int64_t begin_ns = NowNs();
    if (cached.version == version_ || begin_ns < cached.fresh_until_ns) return cached.text;
    cached.text = TENCH_TRY(compute());
    cached.version = version_;
    const int64_t end_ns = NowNs();
    cached.fresh_until_ns = end_ns + (end_ns - begin_ns) * options_.rest_factor;
    return cached.text;
  }

  // Looks whether the file has changed, and then which study is shown.
  Status Refresh() {
    const FileState file = TENCH_TRY(StateOf(options_.database));
    if (version_ > 0 && file == file_) return Ok();
    // Another file may have taken the place of the one that is open.
    if (file.inode != file_.inode)
      store_ = TENCH_TRY(Store::Open(options_.database, Store::Mode::kReadOnly));
    std::vector<StudyRecord> studies = TENCH_TRY(store_.Studies());
    study_.reset();
    for (StudyRecord& study : studies) {
      if (!options_.study || study.id == *options_.study) study_ = std::move(study);
    }
    if (options_.study && !study_)
      return Failed("{} has no study {}", options_.database.string(), *options_.study);
    finished_ = 0;
    if (study_) finished_ = static_cast<int64_t>(TENCH_TRY(store_.FinishedRuns(study_->id)).size());
    file_ = file;  // from before the reading, so that the next call sees a commit in between
    ++version_;
    return Ok();
  }

  const LiveReportOptions options_;
  Store store_;
  FileState file_;
  int64_t version_ = 0;  // 0 = nothing was read yet
  std::optional<StudyRecord> study_;
  int64_t finished_ = 0;
  Cached page_, summary_;

  friend class LiveReport;
};

LiveReport::LiveReport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LiveReport::~LiveReport() = default;

Result<std::unique_ptr<LiveReport>> LiveReport::Open(LiveReportOptions options) {
  Store store = TENCH_TRY(Store::Open(options.database, Store::Mode::kReadOnly));
  const FileState file = TENCH_TRY(StateOf(options.database));
  auto impl = std::make_unique<Impl>(std::move(options), std::move(store), file);
  TENCH_TRY(impl->Refresh());
  return std::unique_ptr<LiveReport>(new LiveReport(std::move(impl)));
}

Result<std::string> LiveReport::Page() {
  const std::lock_guard lock(impl_->mutex);
  return impl_->Page();
}

Result<std::string> LiveReport::State() {
  const std::lock_guard lock(impl_->mutex);
  return impl_->State();
}

Result<std::string> LiveReport::Summary() {
  const std::lock_guard lock(impl_->mutex);
  return impl_->Summary();
}

}  // namespace tench
