// SPDX-License-Identifier: Apache-2.0
// `tench bench-op`: one convolution or matrix product in every worker and algorithm.
#include <algorithm>
#include <memory>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/known_names.h"
#include "cli/live_line.h"
#include "cli/output_terminal.h"
#include "cli/single_run.h"
#include "net/cost.h"
#include "net/graph_json.h"
#include "profile/layer_network.h"
#include "profile/op_network.h"
#include "profile/problem.h"
#include "report/op_ranking.h"
#include "run/session/run_cell.h"

namespace tench {
namespace {

constexpr std::string_view kAlgorithmFact = "algorithm.";
constexpr int64_t kWarmupSteps = 3, kMostRounds = 1000, kMostSteps = 100'000;

struct BenchOpFlags {
  std::string op, problem, network, layer, data, batch = "16", workers, threads = "0",
                                                 isa = "widest", cache = "hot", rounds = "3",
                                                 steps = "20";
  bool json = false;
};

// The op as a network, and its layer there.
struct BenchedOp {
  Graph graph;
  std::string layer, title;
  int64_t batch = 1;
  Cost cost;
};

// One row of the result before it is measured.
struct Candidate {
  PlannedCell planned;
  OpRuns runs;
};

Result<int64_t> Count(const char* flag, const std::string& text, int64_t least, int64_t most) {
  const Result<int64_t> count = ParseInteger(text);
  if (!count || *count < least || *count > most)
    return Failed("{}: '{}' is not an integer from {} to {}", flag, Printable(text, 60), least,
                  most);
  return *count;
}

Result<BenchedOp> OpOf(const BenchOpFlags& flags) {
  BenchedOp benched;
  if (flags.op.empty() == flags.layer.empty())
    return Failed("name an op (conv SHAPE, fc SHAPE), or a layer (--network NAME --layer NAME)");
  if (!flags.op.empty()) {
    if (!flags.network.empty()) return Failed("--network needs --layer instead of an op");
    if (flags.problem.empty()) return Failed("{}: the shape is missing", flags.op);
    OpNetwork parsed = TENCH_TRY(ParseOpNetwork(flags.op, flags.problem));
    benched.graph = std::move(parsed.graph);
    benched.batch = parsed.batch;
    benched.layer = kOpLayer;
  } else {
    if (flags.network.empty()) return Failed("--layer needs --network");
    benched.batch = TENCH_TRY(Count("--batch", flags.batch, 1, 1 << 20));
    const std::string data = TENCH_TRY(ResolveData(flags.network, flags.data));
    const Graph whole = TENCH_TRY(LoadNetwork(flags.network, data, 0, FileReaders()));
    const TypedGraph typed_whole = TENCH_TRY(Infer(whole, benched.batch));
    benched.graph = TENCH_TRY(LayerNetwork(typed_whole, flags.layer));
    benched.layer = flags.layer;
  }
  const TypedGraph typed = TENCH_TRY(Infer(benched.graph, benched.batch));
  const std::vector<Cost> costs = LayerCosts(typed);
  for (size_t i = 0; i < typed.layers.size(); ++i) {
    if (typed.layers[i].layer.name != benched.layer) continue;
    benched.cost = costs[i];
    const std::string problem = ProblemText(typed, i);
    benched.title = fmt::format("{} {}", OpName(typed.layers[i].layer.op),
                                problem.empty() ? benched.graph.name : problem);
  }
  return benched;
}

Result<std::vector<std::string>> CachesOf(const std::string& text) {
  if (text == "hot" || text == "cold") return std::vector<std::string>{text};
  if (text == "both") return std::vector<std::string>{"hot", "cold"};
  return Failed("--cache: '{}' is not hot, cold or both", Printable(text, 60));
}

// Without --worker: every installed framework whose profile has kernels by layer.
Result<std::vector<std::string>> WorkersOf(const BenchOpFlags& flags,
                                           const WorkerCatalog& workers) {
  std::vector<std::string> names;
  if (!flags.workers.empty()) {
    for (const std::string& name : Split(flags.workers, ','))
      names.push_back(std::string(Trim(name)));
    for (const std::string& name : names) {
      const WorkerEntry* entry = TENCH_TRY(workers.Find(WorkerName::Of(name).name));
      if (!entry->installed()) return Failed("{}", entry->NotInstalled());
    }
    return names;
  }
  for (const WorkerEntry& entry : workers.entries()) {
    if (entry.installed() && !entry.python && entry.name != "reference")
      names.push_back(entry.name);
  }
  if (names.empty()) return Failed("no worker is installed (tench doctor)");
  return names;
}

// The default and the algorithms of the description: "algorithm.gemm": "option.kernels=own".
Result<std::vector<Candidate>> CandidatesOf(const BenchOpFlags& flags, WorkerCatalog& workers,
                                            const std::string& worker, const std::string& cache,
                                            const BenchedOp& benched,
                                            const std::string& network_file) {
  const auto [name, version] = WorkerName::Of(worker);
  const WorkerEntry* entry = TENCH_TRY(workers.Find(name));
  std::map<std::string, std::string> settings = {{"default", ""}};
  if (const auto description = workers.Describe(*entry, version)) {
    for (const auto& [fact, setting] : description->facts) {
      if (fact.starts_with(kAlgorithmFact)) settings[fact.substr(kAlgorithmFact.size())] = setting;
    }
  }
  const Catalog names = KnownNames(workers, FileReaders());
  std::vector<Candidate> candidates;
  for (const auto& [algorithm, setting] : settings) {
    Candidate candidate;
    Cell& cell = candidate.planned.cell;
    TENCH_TRY(cell.Set("worker", worker));
    TENCH_TRY(cell.Set("network", network_file));
    TENCH_TRY(cell.Set("batch", std::to_string(benched.batch)));
    TENCH_TRY(cell.Set("phase", "gradient"));
    TENCH_TRY(cell.Set("threads", flags.threads).In("--threads"));
    TENCH_TRY(cell.Set("isa", flags.isa).In("--isa"));
    if (const size_t equals = setting.find('='); equals != std::string::npos)
      TENCH_TRY(cell.Set(setting.substr(0, equals), setting.substr(equals + 1)));
    if (cache == "cold") TENCH_TRY(cell.Set("env.TENCH_CACHE", "cold"));
    TENCH_TRY(ResolveCell(names, cell));
    candidate.planned.id = cell.Id();
    candidate.planned.budget.warmup_steps = kWarmupSteps;
    candidate.planned.budget.fixed_steps = TENCH_TRY(Count("--steps", flags.steps, 1, kMostSteps));
    candidate.runs = {worker, "", algorithm, cache, "", {}, ""};
    if (cache == "cold" && entry->python)
      candidate.runs.reason = "workers in Python do not evict caches";
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

void Measure(WorkerCatalog& workers, Candidate& candidate, const std::string& command,
             StopToken stop) {
  RunRequest request = SingleRun(candidate.planned, FileReaders(), nullptr);
  request.profile = true;
  const RunResult result = RunCell(workers, request, nullptr, stop);
  OpRuns& runs = candidate.runs;
  runs.version = result.record.worker_version;
  runs.command = command;
  if (result.record.outcome != Outcome::kOk) {
    runs.reason = fmt::format("{}: {}", Name(result.record.outcome), result.record.reason);
  } else if (result.series.census.steps == 0) {
    runs.reason = "the worker returned an empty profile";
  } else {
    runs.censuses.push_back(result.series.census);
  }
}

std::string CommandOf(const BenchOpFlags& flags, const Candidate& candidate) {
  std::string command =
      flags.op.empty()
          ? fmt::format("tench bench-op --network {} --layer {} --batch {}",
                        ShellQuote(flags.network), ShellQuote(flags.layer), flags.batch)
          : fmt::format("tench bench-op {} {}", flags.op, ShellQuote(flags.problem));
  if (!flags.data.empty()) command += " --data " + ShellQuote(flags.data);
  if (flags.threads != "0") command += " --threads " + flags.threads;
  if (flags.isa != "widest") command += " --isa " + flags.isa;
  return command + fmt::format(" --cache {} --worker {}", candidate.runs.cache,
                               ShellQuote(candidate.runs.worker));
}

Result<int> BenchOp(const BenchOpFlags& flags) {
  const BenchedOp benched = TENCH_TRY(OpOf(flags));
  const std::vector<std::string> caches = TENCH_TRY(CachesOf(flags.cache));
  const int64_t rounds = TENCH_TRY(Count("--rounds", flags.rounds, 1, kMostRounds));
  RemoveAbandonedRunFolders();
  WorkerCatalog workers = WorkerCatalog::Discover();
  const TemporaryFolder folder = TENCH_TRY(TemporaryFolder::Make("tench-op-"));
  const std::string file = (folder.path() / "op.json").string();
  TENCH_TRY(WriteFileAtomically(file, PrintJson(GraphToJson(benched.graph))));
  std::vector<Candidate> candidates;
  for (const std::string& worker : TENCH_TRY(WorkersOf(flags, workers))) {
    for (const std::string& cache : caches) {
      for (Candidate& one : TENCH_TRY(CandidatesOf(flags, workers, worker, cache, benched, file)))
        candidates.push_back(std::move(one));
    }
  }
  Interrupt interrupt;
  {
    LiveLine line;
    // The order rotates from round to round, so that drift affects all candidates equally.
    const size_t count = candidates.size();
    for (size_t done = 0; done < count * static_cast<size_t>(rounds); ++done) {
      Candidate& candidate = candidates[(done + done / count) % count];
      if (!candidate.runs.reason.empty()) continue;
      line.Show(CountedProgress(done, count * static_cast<size_t>(rounds),
                                candidate.runs.worker + ", " + candidate.runs.algorithm));
      Measure(workers, candidate, CommandOf(flags, candidate), interrupt.stop());
      if (interrupt.stop().stop_requested()) return kExitInterrupted;
    }
  }
  std::vector<OpRuns> runs;
  for (Candidate& candidate : candidates) runs.push_back(std::move(candidate.runs));
  const std::vector<OpRanking> rankings =
      RankOps(runs, benched.layer, benched.cost.forward_flops, benched.cost.backward_flops);
  if (flags.json) {
    fmt::print("{}\n", PrintJson(OpsToJson(benched.title, runs, rankings), 1));
  } else {
    fmt::print("{}", RenderOps(benched.title, runs, rankings, OutputWidth()));
  }
  return rankings.empty() ? kExitFailedRuns : kExitOk;
}

}  // namespace

Command AddBenchOpCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand(
      "bench-op", "Rank workers and algorithms on one convolution or matrix product");
  auto flags = std::make_shared<BenchOpFlags>();
  const auto option = [&](const char* name, std::string& value, const char* help,
                          const char* group) {
    app->add_option(name, value, help)->group(group)->type_name("");
  };
  app->add_option("OP", flags->op, "conv or fc")->type_name("");
  app->add_option("SHAPE", flags->problem,
                  "of conv in benchdnn's form, mb16ic64ih56oc64kh3ph1; of fc m16n4096k9216")
      ->type_name("");
  constexpr const char* kWhat = "What to run";
  option("--network", flags->network, "take a layer of this network instead of OP", kWhat);
  option("--layer", flags->layer, "its name (tench show NETWORK)", kWhat);
  option("--data", flags->data, "data set of the network", kWhat);
  option("--batch", flags->batch, "samples per step of the layer [16]", kWhat);
  option("--worker", flags->workers,
         "workers, separated by commas [installed ones that are not in Python]", kWhat);
  option("--threads", flags->threads, "CPU threads; 0 = all CPUs [0]", kWhat);
  option("--isa", flags->isa,
         "widest vector instructions: widest, sse41, avx, avx2, avx512 [widest]", kWhat);
  constexpr const char* kHow = "How to measure";
  option("--cache", flags->cache,
         "hot: the data of the step before are in the caches; cold: evicted before each step; both "
         "[hot]",
         kHow);
  option("--rounds", flags->rounds, "runs of each worker and algorithm, interleaved [3]", kHow);
  option("--steps", flags->steps, "timed steps of a run [20]", kHow);
  app->add_flag("--json", flags->json, "print JSON")->group("Output");
  app->footer(
      "Times are of the op's kernels per step, by the workers' profiles, as medians over rounds.\n"
      "backward is both gradients. An algorithm is a setting that the worker declares.\n"
      "  tench bench-op conv mb16ic256ih13oc384kh3ph1 --threads 1\n"
      "  tench bench-op --network alexnet --layer conv2 --batch 16 --worker native,torch\n"
      "Exit code: 0 ranked, 4 no run succeeded, 2 bad input, 130 interrupted.");
  return {app, [flags] { return BenchOp(*flags); }};
}

}  // namespace tench
