// SPDX-License-Identifier: Apache-2.0
#include "run/session/worker_launch.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/json.h"
#include "machine/affinity.h"
#include "machine/placement.h"
#include "protocol/command_line.h"
#include "run/session/worker_environment.h"

namespace tench {
namespace {

// No fsync: no later process reads this scratch file.
Status WriteText(const std::filesystem::path& path, const std::string& text) {
  const Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  for (size_t at = 0; fd.valid() && at < text.size();) {
    const ssize_t written = write(fd.get(), text.data() + at, text.size() - at);
    if (written < 0 && errno != EINTR) return Failed("{}: {}", path.string(), strerror(errno));
    if (written > 0) at += static_cast<size_t>(written);
  }
  if (!fd.valid()) return Failed("{}: {}", path.string(), strerror(errno));
  return Ok();
}

}  // namespace

Result<WorkerLaunch> JobLaunch(const WorkerEntry& entry, const Job& job, const std::string& version,
                               const std::filesystem::path& folder,
                               const PlacementName& placement) {
  const std::filesystem::path job_file = folder / "job.json";
  TENCH_TRY(WriteText(job_file, PrintJson(ToJson(job)) + "\n"));
  WorkerLaunch launch{{}, TENCH_TRY(Pipe::Make()), TENCH_TRY(Pipe::Make()), {}};
  SpawnOptions& spawn = launch.spawn;
  if (job.turns) {
    launch.turns = TENCH_TRY(Pipe::Make());
    // A worker may read it as any other standard input.
    fcntl(launch.turns.in.get(), F_SETFL, 0);
    spawn.input_fd = launch.turns.in.get();
  }
  spawn.executable = entry.executable;
  spawn.arguments = {kJobFlag, job_file.string()};
  const std::vector<CpuPlace> topology = ReadTopology(AllowedCpus());
  const auto placeable = static_cast<int64_t>(PlaceableCpus(topology, placement));
  const int64_t wanted = std::max(job.threads, std::min(job.threads + job.data_threads, placeable));
  std::vector<int> cpus = TENCH_TRY(PlaceThreads(topology, placement, wanted));
  spawn.environment =
      WorkerEnvironment(OwnEnvironment(), cpus, version, job.environment, job.threads);
  spawn.cpus = std::move(cpus);
  spawn.folder = folder;
  spawn.output_fd = launch.log.out.get();
  spawn.extra_fd = launch.answers.out.get();
  return launch;
}

Result<WorkerLaunch> DescribeLaunch(const WorkerEntry& entry, const std::string& version) {
  WorkerLaunch launch{{}, TENCH_TRY(Pipe::Make()), TENCH_TRY(Pipe::Make()), {}};
  launch.spawn.executable = entry.executable;
  launch.spawn.arguments = {kDescribeFlag};
  launch.spawn.environment = WorkerEnvironment(OwnEnvironment(), {}, version);
  launch.spawn.output_fd = launch.answers.out.get();
  launch.spawn.error_fd = launch.log.out.get();
  return launch;
}

}  // namespace tench
