// SPDX-License-Identifier: Apache-2.0
// Measures reading a large store. Creates one with RUNS runs of 100 steps in a temporary folder,
// CELLS cells in RUNS / CELLS rounds. Then times a scan over all runs, the ranking, each rendering
// and the report, and prints the peak resident set.
//   bench_store_scan [RUNS [CELLS]]        default 100000 runs of 20000 cells

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "base/clock.h"
#include "base/file.h"
#include "report/csv.h"
#include "report/html/page.h"
#include "report/html/report_data.h"
#include "report/ranking_json.h"
#include "report/summary.h"
#include "report/terminal.h"
#include "store/store.h"

namespace tench {
namespace {

constexpr int64_t kSteps = 100;

Cell CellNumber(int64_t number) {
  Cell cell;
  cell.values[kAxisWorker] = fmt::format("worker-{}", number % 5);
  cell.values[kAxisNetwork] = fmt::format("network-{}", number / 5 % 20);
  cell.values[kAxisData] = std::string("imagenet");
  cell.values[kAxisBatch] = 1 + number / 100 % 100;
  cell.values[kAxisThreads] = 1 + number / 10'000;
  return cell;
}

RunRecord RunNumber(int64_t study, int64_t round, const Cell& cell) {
  RunRecord run;
  run.study = study;
  run.round = round;
  run.cell = cell;
  run.cell_id = cell.Id();
  run.reproducer = "tench run " + cell.Flags();
  run.started_utc = UtcNow();
  run.machine = run.machine_id = "pond";
  run.worker_version = "1.0";
  run.worker_json = std::string(3000, 'w');
  run.environment_json = std::string(1000, 'e');
  run.fingerprint = "0123456789abcdef";
  run.parameters = run.forward_flops_per_image = run.step_flops = 61'000'000;
  const double step_ns = 1e6 * static_cast<double>(cell.Integer(kAxisBatch)) *
                         (1 + 0.01 * static_cast<double>(round % 7));
  RunSummary& s = run.summary;
  s.steps = kSteps;
  s.warmup_steps = 3;
  s.step_ns_median = s.step_ns_mean = s.step_ns_min = s.step_ns_max = s.step_ns_p5 = s.step_ns_p95 =
      step_ns;
  s.step_ns_low = step_ns * 0.99, s.step_ns_high = step_ns * 1.01,
  s.step_ns_stddev = 0.01 * step_ns;
  s.first_loss = 6.9, s.last_loss = 0.5, s.converged = true;
  s.hello_ns = s.build_ns = 20'000'000;
  s.rss_before_build_bytes = s.build_peak_rss_bytes = s.steps_peak_rss_bytes =
      s.sampled_peak_rss_bytes = 500 << 20;
  s.cpu_per_wall = 1.9;
  s.wall_ns = 2'000'000'000, s.overhead_ns = 20'000'000;
  return run;
}

Status MakeStore(const std::filesystem::path& path, int64_t runs, int64_t cells) {
  Store store = TENCH_TRY(Store::Open(path, Store::Mode::kReadWrite));
  StudyRecord study;
  study.suite = "large";
  const int64_t id = TENCH_TRY(store.AddStudy(study));
  RunSeries series;
  series.step_ns.assign(kSteps, 1'000'000);
  series.loss.assign(kSteps + 3, 0.5);
  series.warmup_ns.assign(3, 2'000'000);
  series.samples.assign(800, 's');
  return store.InOneTransaction([&]() -> Status {
    for (int64_t i = 0; i < runs; ++i)
      TENCH_TRY(store.AddRun(RunNumber(id, i / cells, CellNumber(i % cells)), series));
    return Ok();
  });
}

template <class Work>
auto Timed(std::string_view what, Work work) {
  const int64_t begin = NowNs();
  auto result = work();
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("{:<24} {:8.3f} s   peak RSS {:6.1f} MiB\n", what,
             static_cast<double>(NowNs() - begin) / 1e9,
             static_cast<double>(usage.ru_maxrss) / 1024);
  fflush(stdout);
  return result;
}

Status Measure(const std::filesystem::path& path) {
  Store store = TENCH_TRY(Timed("open", [&] { return Store::Open(path, Store::Mode::kReadOnly); }));
  int64_t count = 0;
  TENCH_TRY(Timed("walk over all runs", [&] {
    return store.ForEachRun({}, [&](const RunRecord&) { return ++count, true; });
  }));
  const Ranking ranking = TENCH_TRY(Timed("walk and rank", [&] { return Rank(store, {}); }));
  const std::string text = Timed("render as text", [&] { return RenderText(ranking, {}); });
  const std::string csv = Timed("render as CSV", [&] { return RenderCsv(ranking); });
  const std::string json = Timed("render as JSON", [&] { return RenderJson(ranking); });
  const ReportData data =
      TENCH_TRY(Timed("walk for the report", [&] { return ReadReport(store, {}); }));
  const ChartSet charts = Timed("make its charts", [&] { return MakeCharts(data); });
  const std::string page = Timed("render as HTML", [&] { return RenderPage(data, charts, {}); });
  fmt::print(
      "{} runs, {} groups; {} bytes of text, {} of CSV, {} of JSON, {} of HTML without the charts' "
      "script\n",
      count, ranking.groups.size(), text.size(), csv.size(), json.size(), page.size());
  return Ok();
}

// In a child process, so that its memory is not part of the measured peak.
bool InChild(const std::function<Status()>& work) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const Status status = work();
    if (!status.ok()) fmt::print(stderr, "{}\n", status.error().message);
    fflush(stdout);
    _exit(status.ok() ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace
}  // namespace tench

int main(int argc, char** argv) {
  using namespace tench;
  const int64_t runs = argc > 1 ? std::atoll(argv[1]) : 100'000;
  const int64_t cells = argc > 2 ? std::atoll(argv[2]) : runs / 5;
  if (runs < 1 || cells < 1) {
    fmt::print(stderr, "usage: bench_store_scan [RUNS [CELLS]]\n");
    return 2;
  }
  const Result<TemporaryFolder> folder = TemporaryFolder::Make("bench-store");
  if (!folder.ok()) {
    fmt::print(stderr, "{}\n", folder.error().message);
    return 1;
  }
  const std::filesystem::path path = folder->path() / "results.db";
  const int64_t begin = NowNs();
  if (!InChild([&] { return MakeStore(path, runs, cells); })) return 1;
  fmt::print("made {} runs of {} steps in {:.1f} s, {:.0f} MiB\n", runs, kSteps,
             static_cast<double>(NowNs() - begin) / 1e9,
             static_cast<double>(std::filesystem::file_size(path)) / (1 << 20));
  return InChild([&] { return Measure(path); }) ? 0 : 1;
}
