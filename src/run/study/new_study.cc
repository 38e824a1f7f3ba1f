// SPDX-License-Identifier: Apache-2.0
#include "run/study/new_study.h"

#include <fmt/format.h>
#include <unistd.h>

#include <set>

#include "base/clock.h"
#include "base/text.h"
#include "machine/affinity.h"
#include "machine/peak.h"

namespace tench {
namespace {

// The peak of direct f32 arithmetic for every thread count of the study.
Json MeasurePeaks(const StudyRequest& request) {
  const auto cpus = static_cast<int64_t>(AllowedCpus().size());
  std::set<int64_t> threads;
  for (const PlannedCell& cell : request.cells) {
    const int64_t asked = cell.cell.Integer(kAxisThreads);
    if (asked <= cpus) threads.insert(asked == 0 ? cpus : asked);
  }
  Json peaks = Json::array();
  for (const int64_t each : threads)
    peaks.push_back({{"threads", each}, {"flops_per_s", MeasurePeakFlops(each)}});
  return peaks;
}

}  // namespace

Result<StudyRecord> BeginStudy(Store& store, const StudyRequest& request, const HostFacts& host,
                               const WorkerBuilds& builds) {
  StudyRecord study;
  study.suite = request.suite;
  study.suite_fingerprint = request.suite_fingerprint;
  study.suite_text = request.suite_text;
  study.machine = request.machine.empty() ? host.machine : request.machine;
  study.machine_id = host.machine_id;
  Json facts = HostToJson(host);
  if (request.peak) facts["peak"] = MeasurePeaks(request);
  study.host_json = PrintJson(facts);
  study.tench_version = TENCH_VERSION;
  study.filter = request.filter;
  study.started_utc = UtcNow();
  // Stored, so that a resumed study keeps its order. The shift keeps the seed non-negative:
  // SQLite's integers are signed.
  study.seed = Hash64(fmt::format("{} {} {} {}", study.suite_fingerprint, study.started_utc,
                                  NowNs(), getpid())) >>
               1;
  study.rounds = request.rounds;
  study.pairing = request.pairing;
  study.cells = static_cast<int64_t>(request.cells.size());
  study.builds = builds;
  study.id = TENCH_TRY(store.AddStudy(study));
  return study;
}

Result<StudyRecord> FindOrBeginStudy(Store& store, const StudyRequest& request,
                                     const HostFacts& host, const WorkerBuilds& builds,
                                     std::string& why_new) {
  if (request.fresh) return BeginStudy(store, request, host, builds);
  // Search and insertion are one transaction, so that two concurrent sweeps share one study.
  StudyRecord study;
  const Status begun = store.InOneTransaction([&]() -> Status {
    const auto found = TENCH_TRY(
        store.FindStudy(request.suite, request.suite_fingerprint, host.machine_id, request.filter));
    if (found) why_new = WhyNotContinued(*found, builds);
    if (found && why_new.empty()) {
      study = *found;
    } else {
      study = TENCH_TRY(BeginStudy(store, request, host, builds));
    }
    return Ok();
  });
  if (!begun.ok()) return begun.error();
  return study;
}

}  // namespace tench
