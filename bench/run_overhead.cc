// SPDX-License-Identifier: Apache-2.0
// Measures the overhead of one run of a study: the noise sentinel before and after it, and the time
// from the launch to the stored result, less the time that the worker reports (build, warm-up and
// timed steps). Runs the reference worker on the smallest network; its start-up, weight generation
// and exit count as overhead.
//   bench_run_overhead [RUNS]       searches the worker beside the program and on tench's path
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "machine/affinity.h"
#include "machine/sentinel.h"
#include "run/session/run_cell.h"
#include "store/store.h"

namespace tench {
namespace {

Result<PlannedCell> SmallestCell() {
  PlannedCell planned;
  TENCH_TRY(planned.cell.Set("worker", "reference"));
  TENCH_TRY(planned.cell.Set("network", "lenet"));
  TENCH_TRY(planned.cell.Set("batch", "1"));
  TENCH_TRY(planned.cell.Set("threads", "1"));
  planned.id = planned.cell.Id();
  planned.budget.fixed_steps = 10;
  return planned;
}

int64_t Sum(const std::vector<int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{0});
}

Status Measure(int64_t runs) {
  const TemporaryFolder folder = TENCH_TRY(TemporaryFolder::Make("tench-bench-"));
  Store store = TENCH_TRY(Store::Open(folder.path() / "bench.db", Store::Mode::kReadWrite));
  WorkerCatalog workers = WorkerCatalog::Discover();
  RunRequest request;
  request.planned = TENCH_TRY(SmallestCell());
  Sentinel sentinel(AllowedCpus());
  std::vector<double> overhead_ms, own_ms, store_ms, sentinel_ms;
  for (int64_t i = 0; i < runs; ++i) {
    const int64_t start_ns = NowNs();
    sentinel.Read();
    const int64_t read_ns = NowNs();
    const RunResult result = RunCell(workers, request, nullptr, StopToken());
    const int64_t executed_ns = NowNs();
    sentinel.Read();
    const int64_t read_again_ns = NowNs();
    TENCH_TRY(store.AddRun(result.record, result.series));
    const int64_t stored_ns = NowNs();
    if (result.record.outcome != Outcome::kOk)
      return Failed("{}: {}", Name(result.record.outcome), result.record.reason);
    const int64_t worked_ns =
        *result.record.summary.build_ns + Sum(result.series.warmup_ns) + Sum(result.series.step_ns);
    overhead_ms.push_back(static_cast<double>(stored_ns - start_ns - worked_ns) / 1e6);
    own_ms.push_back(static_cast<double>(result.record.summary.overhead_ns) / 1e6);
    store_ms.push_back(static_cast<double>(stored_ns - read_again_ns) / 1e6);
    sentinel_ms.push_back(static_cast<double>(read_ns - start_ns + read_again_ns - executed_ns) /
                          1e6);
  }
  const auto print = [](const char* name, std::vector<double> values) {
    std::sort(values.begin(), values.end());
    fmt::print("{:<44} median {:7.2f} ms   max {:7.2f} ms\n", name, values[values.size() / 2],
               values.back());
  };
  print("sentinel to stored result, less reported work", overhead_ms);
  print("  of it the sentinel, twice", sentinel_ms);
  print("  of it outside the worker's process", own_ms);
  print("  of it storing", store_ms);
  return Ok();
}

}  // namespace
}  // namespace tench

int main(int argc, char** argv) {
  const auto runs = tench::ParseInteger(argc > 1 ? argv[1] : "20");
  if (!runs || *runs < 1) {
    fmt::print(stderr, "usage: bench_run_overhead [RUNS]\n");
    return 2;
  }
  const tench::Status status = tench::Measure(*runs);
  if (!status) fmt::print(stderr, "bench_run_overhead: {}\n", status.error().message);
  return status ? 0 : 1;
}
