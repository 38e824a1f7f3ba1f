// SPDX-License-Identifier: Apache-2.0
// `tench doctor`: facts about this machine, missing workers, and sources of noise.
#include <unistd.h>

#include <memory>

#include "base/clock.h"
#include "base/plural.h"
#include "base/text.h"
#include "cli/active_python.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/live_line.h"
#include "cli/output_terminal.h"
#include "cli/python_flag.h"
#include "machine/affinity.h"
#include "machine/ceilings.h"
#include "machine/energy.h"
#include "machine/host.h"
#include "machine/load.h"
#include "machine/nvml.h"
#include "machine/peak.h"
#include "protocol/missing_fact.h"
#include "record/ceiling_json.h"
#include "report/text_table.h"
#include "run/session/worker_catalog.h"

namespace tench {
namespace {

constexpr int64_t kLookNs = 300'000'000;
constexpr size_t kBusiest = 5;
constexpr double kBusyCpus = 0.05;

using Rows = std::vector<std::pair<std::string, std::string>>;

std::string OrUnknown(const std::string& text) { return text.empty() ? "unknown" : text; }

Rows MachineRows(const HostFacts& host, const Peak& peak, const EnergyMeter& energy) {
  const CpuFacts& cpu = host.cpu;
  Rows rows = {
      {"machine", fmt::format("{} (id {})", host.machine, host.machine_id)},
      {"system", fmt::format("{}, Linux {}", OrUnknown(host.distribution), host.kernel)},
      {"CPU", fmt::format("{} ({} cores, {} logical, {} socket{})", OrUnknown(cpu.model), cpu.cores,
                          cpu.logical, cpu.sockets, cpu.sockets == 1 ? "" : "s")},
      {"CPU features", Join(cpu.flags, " ")},
      {"usable CPUs",
       fmt::format("{} ({:.4g} by quota)", PrintCpuList(host.allowed_cpus), host.UsableCpus())},
      {"governor", cpu.governor.empty() ? "unknown (no frequency scaling)" : cpu.governor},
      {"turbo", OrUnknown(cpu.turbo)},
      {"memory", fmt::format("{}, {} available", HumanBytes(host.memory_bytes),
                             HumanBytes(host.available_bytes))},
      {"swap", host.swap_bytes == 0 ? "none"
                                    : fmt::format("{}, {} free", HumanBytes(host.swap_bytes),
                                                  HumanBytes(host.free_swap_bytes))},
      {"cgroup limits",
       fmt::format("memory {}, CPUs {}",
                   host.cgroup.memory_bytes ? HumanBytes(*host.cgroup.memory_bytes) : "unlimited",
                   host.cgroup.cpus ? fmt::format("{:.4g}", *host.cgroup.cpus) : "unlimited")},
      {"huge pages", OrUnknown(host.huge_pages)},
      {"clock", OrUnknown(host.clock_source)},
      {"peak",
       fmt::format("{:.1f} GFLOP/s (f32 matrix product), {:.1f} GB/s (y += a·x), {} thread{}",
                   peak.flops_per_s / 1e9, peak.bytes_per_s / 1e9, peak.threads,
                   peak.threads == 1 ? "" : "s")},
      {"load", fmt::format("{:.2f} {:.2f} {:.2f} (1, 5, 15 minutes)", host.load[0], host.load[1],
                           host.load[2])},
  };
  if (!host.virtualisation.empty()) rows.push_back({"virtual machine", host.virtualisation});
  if (!host.container.empty()) rows.push_back({"container", host.container});
  for (const GpuDevice& gpu : host.gpus)
    rows.push_back({"GPU", fmt::format("{}, {}", gpu.name, HumanBytes(gpu.memory_bytes))});
  if (host.gpus.empty()) rows.push_back({"GPU", "none found (NVML)"});
  rows.push_back({"energy", energy.Problem().empty() ? "RAPL: " + energy.Names()
                                                     : "none: " + energy.Problem()});
  return rows;
}

std::vector<BusyProcess> LookForOthers() {
  const std::vector<ProcessTime> before = ReadProcessTimes();
  const int64_t begin = NowNs();
  SystemClock().SleepUntil(begin + kLookNs);
  const std::vector<ProcessTime> after = ReadProcessTimes();
  std::vector<BusyProcess> busy =
      BusiestProcesses(before, after, NowNs() - begin, kBusiest, getpid());
  std::erase_if(busy, [](const BusyProcess& process) { return process.cpus < kBusyCpus; });
  return busy;
}

// Sources of noise, each with a remedy.
std::vector<std::string> Advice(const HostFacts& host, const std::vector<BusyProcess>& busy) {
  std::vector<std::string> advice;
  double others = 0;
  for (const BusyProcess& process : busy) others += process.cpus;
  if (others > 0.2)
    advice.push_back(fmt::format(
        "other processes use {:.1f} CPUs: stop them, or expect wide intervals", others));
  if (!host.cpu.governor.empty() && host.cpu.governor != "performance") {
    advice.push_back(
        fmt::format("the CPU governor is '{}': as root, cpupower frequency-set -g performance",
                    host.cpu.governor));
  }
  if (host.cpu.turbo == "on")
    advice.push_back(
        "turbo is on: the clock frequency depends on temperature; switch it off, or use more "
        "rounds");
  if (host.swap_bytes > 0)
    advice.push_back("swap is enabled: runs that use it get a flag; --swap kill ends them instead");
  if (host.virtualisation.empty() && host.cpu.hypervisor)
    advice.push_back("this is a virtual machine: other guests may cause noise; use more rounds");
  return advice;
}

// The ceilings of a roofline with one thread and with all.
std::vector<Ceiling> Ceilings(const HostFacts& host) {
  std::vector<int64_t> threads = {1};
  if (host.allowed_cpus.size() > 1)
    threads.push_back(static_cast<int64_t>(host.allowed_cpus.size()));
  return MeasureCeilings(host.cpu, threads);
}

Rows CeilingRows(const std::vector<Ceiling>& ceilings) {
  Rows rows;
  for (const Ceiling& ceiling : ceilings) {
    const std::string value =
        ceiling.flops_per_s > 0 ? fmt::format("{:.1f} GFLOP/s (f32 multiply-adds in registers)",
                                              ceiling.flops_per_s / 1e9)
                                : fmt::format("{:.1f} GB/s (y += a·x)", ceiling.bytes_per_s / 1e9);
    rows.push_back({fmt::format("{}, {}", ceiling.name, Plural(ceiling.threads, "thread")),
                    value + (ceiling.disturbed ? "; disturbed, may be too low" : "")});
  }
  return rows;
}

Result<int> Doctor(const PythonFlag& python, bool json, bool wide, bool with_ceilings) {
  LiveLine progress;
  progress.Show("looking at the machine");
  const std::unique_ptr<Nvml> nvml = Nvml::Open();
  const HostFacts host = ReadHost(nvml.get());
  const EnergyMeter energy;
  const std::vector<BusyProcess> busy = LookForOthers();
  const std::vector<std::string> advice = Advice(host, busy);
  const Peak peak = MeasurePeak(static_cast<int64_t>(host.allowed_cpus.size()));
  const std::vector<Ceiling> ceilings = with_ceilings ? Ceilings(host) : std::vector<Ceiling>();
  WorkerCatalog workers = WorkerCatalog::Discover();
  const ActivePython active = TENCH_TRY(FindActivePython(python, workers));
  TextTable table({{"worker"}, {"version"}, {"state"}});
  Json worker_json = Json::array();
  bool any = false;
  for (size_t done = 0; const WorkerEntry& entry : workers.entries()) {
    progress.Show(CountedProgress(done++, workers.entries().size(), entry.name));
    std::string version = "-", state;
    if (!entry.installed()) {
      state = fmt::format("not installed; needs {}; {}", entry.needs, entry.install);
    } else if (Result<Description> description = workers.Describe(entry); description.ok()) {
      version = description->version;
      const auto missing = description->facts.find(kMissingFact);
      const bool ready = missing == description->facts.end();
      // Whoever names an environment does not look for those of `make workers`.
      if (!ready && entry.python && active.asked) continue;
      state = ready ? fmt::format("ok: {} ({})", entry.executable.string(),
                                  Join(description->devices, ", "))
                    : "cannot work: " + missing->second;
      any |= ready;
      // Workers in Python have one environment per version.
      if (const auto versions = description->facts.find("versions");
          versions != description->facts.end())
        state += "; versions: " + versions->second;
    } else {
      state = "broken: " + description.error().message;
    }
    table.AddRow({entry.name, version, state});
    worker_json.push_back({{"name", entry.name},
                           {"version", version},
                           {"installed", entry.installed()},
                           {"state", state}});
  }
  progress.Show("loading the frameworks of the Python environment");
  any |= active.asked && !FrameworksOf(workers, active.environments).workers.empty();
  progress.Clear();
  if (json) {
    Json processes = Json::array();
    for (const BusyProcess& process : busy)
      processes.push_back({{"pid", process.pid}, {"name", process.name}, {"cpus", process.cpus}});
    Json all = {{"host", HostToJson(host)},
                {"peak",
                 {{"threads", peak.threads},
                  {"flops_per_s", peak.flops_per_s},
                  {"bytes_per_s", peak.bytes_per_s}}},
                {"energy", {{"packages", energy.Names()}, {"problem", energy.Problem()}}},
                {"workers", worker_json},
                {"python", ToJson(active, workers)},
                {"busy_processes", processes},
                {"advice", advice}};
    if (with_ceilings) all["ceilings"] = CeilingsToJson(ceilings);
    fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
    return any ? kExitOk : kExitNegative;
  }
  TextTable facts({{"fact"}, {"value"}}, false);
  for (const auto& [name, value] : MachineRows(host, peak, energy)) facts.AddRow({name, value});
  for (const auto& [name, value] : CeilingRows(ceilings)) facts.AddRow({name, value});
  for (const BusyProcess& process : busy) {
    facts.AddRow(
        {"busy process", fmt::format("{} (pid {}): {:.2f} CPUs", Printable(process.name, 40),
                                     process.pid, process.cpus)});
  }
  const size_t width = wide ? 0 : OutputWidth();
  fmt::print("{}\n{}", facts.RenderWrapped(width), table.RenderWrapped(width));
  Print(active, workers, width);
  if (!advice.empty()) fmt::print("\nFor quieter measurements:\n");
  for (const std::string& line : advice) fmt::print("{}\n", WrapText("  - " + line, width, 4));
  if (!any) {
    fmt::print("\n{}\n", WrapText("No worker can run: build them with `make build`, or set "
                                  "TENCH_WORKER_PATH to their folder.",
                                  width, 0));
  }
  return any ? kExitOk : kExitNegative;
}

}  // namespace

Command AddDoctorCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand(
      "doctor", "Check the machine, the installed workers and sources of noise");
  auto json = std::make_shared<bool>(false);
  auto wide = std::make_shared<bool>(false);
  auto python = std::make_shared<PythonFlag>();
  python->AddTo(*app);
  auto ceilings = std::make_shared<bool>(false);
  app->add_flag("--json", *json, "print JSON");
  app->add_flag("--wide", *wide, "do not break lines at the width of the terminal");
  app->add_flag(
      "--ceilings", *ceilings,
      "also measure the ceilings of a roofline: FLOP/s per instruction set, bandwidth per "
      "cache level");
  app->footer("Exit code: 0 if at least one worker can run, 1 otherwise.");
  return {app, [=] { return Doctor(*python, *json, *wide, *ceilings); }};
}

}  // namespace tench
