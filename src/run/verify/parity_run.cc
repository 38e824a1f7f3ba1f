// SPDX-License-Identifier: Apache-2.0
#include "run/verify/parity_run.h"

#include <utility>

#include "base/clock.h"
#include "base/subprocess.h"
#include "run/session/instruments.h"
#include "run/session/job_launch.h"
#include "run/session/memory_watch.h"
#include "run/session/run_cell.h"
#include "run/session/run_outcome.h"
#include "run/session/worker_session.h"

namespace tench {
namespace {

template <class T>
Status WriteLoads(const std::map<std::string, std::vector<T>>& tensors,
                  const std::filesystem::path& folder, Job& job) {
  for (const auto& [name, values] : tensors) {
    const std::filesystem::path file = folder / fmt::format("load{}.bin", job.tensors.load.size());
    TENCH_TRY(WriteRaw(file, std::span<const T>(values)));
    job.tensors.load[name] = file.string();
  }
  return Ok();
}

Result<SpawnOptions> Prepare(const WorkerEntry& entry, const std::string& version,
                             const Trial& trial, const std::filesystem::path& folder) {
  Job job = trial.job;
  const TensorFiles& wanted = job.tensors;
  // A folder makes the build an observing one, which the plain forward trial need not be.
  if (!wanted.outputs.empty() || wanted.gradients || wanted.parameters || wanted.state)
    job.tensors.folder = (folder / "tensors").string();
  TENCH_TRY(WriteLoads(trial.reals, folder, job));
  TENCH_TRY(WriteLoads(trial.integers, folder, job));
  return LaunchOf(entry, job, version, folder);
}

}  // namespace

Result<Observation> Observe(const WorkerEntry& entry, const std::string& version,
                            const Trial& trial, int64_t timeout_ns, StopToken stop) {
  Observation observation{
      Outcome::kOk, "", "", {}, TENCH_TRY(TemporaryFolder::Make(kParityFolderPrefix))};
  SpawnOptions spawn = TENCH_TRY(Prepare(entry, version, trial, observation.folder.path()));
  Pipe answers = TENCH_TRY(Pipe::Make()), log = TENCH_TRY(Pipe::Make());
  spawn.output_fd = log.out.get();
  spawn.extra_fd = answers.out.get();
  Instruments& instruments = Instruments::OfThisMachine();
  const MemoryWatch memory(MemoryLimitBytes(instruments.memory_bytes), SwapPolicy::kAllow,
                           OomKills());
  const int64_t launched_ns = NowNs();
  Result<Subprocess> child = Subprocess::Spawn(spawn);
  if (!child) {
    observation.outcome = Outcome::kCrashed;
    observation.reason = child.error().message;
    return observation;
  }
  answers.out.Close();
  log.out.Close();
  SupervisionOptions options;
  options.timeout_ns = timeout_ns;
  options.version = version;
  Supervision supervision(*std::move(child), std::move(answers.in), std::move(log.in), launched_ns,
                          options, memory, instruments);
  supervision.Watch(nullptr, stop);
  const Conversation& conversation = supervision.conversation();
  const ExitStatus exit = supervision.seen().exit.value_or(ExitStatus{});
  const Verdict verdict =
      Judge({conversation, supervision.ending(), exit, supervision.half_line(),
             supervision.lingered(), supervision.log().LastLine(),
             supervision.memory().ExplainKill(OomKills()), trial.job.budget.fixed_steps});
  observation.outcome = verdict.outcome;
  if (verdict.outcome != Outcome::kOk) observation.reason = verdict.reason;
  if (const auto& hello = conversation.hello()) observation.version = hello->worker.version;
  observation.losses = conversation.series().loss;
  return observation;
}

}  // namespace tench
