// SPDX-License-Identifier: Apache-2.0
// `tench census`: the matrix products of a training run by their transposes, measured, predicted
// and published.
#include <filesystem>
#include <memory>
#include <optional>

#include "base/file.h"
#include "base/plural.h"
#include "base/text.h"
#include "cli/axis_flags.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/known_names.h"
#include "cli/live_line.h"
#include "cli/program.h"
#include "cli/single_run.h"
#include "net/graph.h"
#include "profile/blas_census.h"
#include "report/html/published.h"
#include "report/run_text.h"
#include "report/text_table.h"
#include "run/session/run_cell.h"

namespace tench {
namespace {

constexpr const char* kRecorder = "tench-blas-recorder.so";
// The cell of Table 5.1 (reference/README.md).
constexpr const char* kPublishedNetwork = "alexnet";
constexpr int64_t kPublishedBatchSize = 512, kPublishedIterations = 20;

struct CensusFlags {
  AxisFlags axes;
  std::string iterations = "20", forward;
  bool json = false;
};

struct Passes {
  int64_t forward = 0, backward = 0;
};

struct CensusResult {
  std::string title;
  Passes passes;
  std::optional<GemmTable> measured;
  std::vector<BlasCall> calls;
  GemmCounts cpu, gpu;
  std::optional<GemmTable> published;
};

Result<int64_t> Count(const char* flag, const std::string& text) {
  const Result<int64_t> count = ParseInteger(text);
  if (!count.ok() || *count < 1 || *count > 1'000'000)
    return Failed("{}: '{}' is not an integer from 1 to 1000000", flag, text);
  return *count;
}

// Caffe's solver makes one forward pass after the last iteration.
Result<Passes> PassesOf(const CensusFlags& flags, const Cell& cell) {
  const int64_t iterations = TENCH_TRY(Count("--iterations", flags.iterations));
  const std::string worker = WorkerName::Of(cell.Text(kAxisWorker)).name;
  const bool closes = (worker.empty() || worker == "caffe") && cell.phase() != Phase::kForward;
  Passes passes{iterations + (closes ? 1 : 0), cell.phase() == Phase::kForward ? 0 : iterations};
  if (!flags.forward.empty()) passes.forward = TENCH_TRY(Count("--forward", flags.forward));
  return passes;
}

GemmTable Published() {
  GemmTable table;
  for (const PublishedGemm& gemm : PublishedGemms()) {
    if (gemm.framework != "caffe" || gemm.kind != "plain") continue;
    GemmKind& kind = gemm.method.ends_with("_nn")   ? table.nn
                     : gemm.method.ends_with("_nt") ? table.nt
                                                    : table.tn;
    kind.calls += gemm.calls;
    kind.time_ns += static_cast<int64_t>(gemm.seconds * 1e9);
  }
  return table;
}

Result<std::vector<BlasCall>> ReadRecords(const std::filesystem::path& folder) {
  std::vector<BlasCall> calls;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".tsv") continue;
    const std::string text = TENCH_TRY(ReadFile(entry.path()));
    const auto more = TENCH_TRY(ParseBlasCalls(text, entry.path().string()));
    calls.insert(calls.end(), more.begin(), more.end());
  }
  return calls;
}

// Runs the worker with the recorder. Prints a run that failed, and returns nullopt then.
Result<std::optional<std::vector<BlasCall>>> Record(Cell cell, int64_t iterations) {
  const std::filesystem::path recorder = ExecutableFolder() / kRecorder;
  if (!std::filesystem::exists(recorder))
    return Failed("{} is missing: build the target tench_blas_recorder", recorder.string());
  const TemporaryFolder folder = TENCH_TRY(TemporaryFolder::Make("tench-census-"));
  TENCH_TRY(cell.Set("env.LD_PRELOAD", recorder.string()));
  TENCH_TRY(cell.Set(fmt::format("{}{}", kEnvironmentPrefix, kBlasCensusVariable),
                     folder.path().string()));
  WorkerCatalog workers = WorkerCatalog::Discover();
  const NetworkReaders readers = FileReaders();
  PlannedCell planned;
  planned.cell = std::move(cell);
  TENCH_TRY(ResolveCell(KnownNames(workers, readers), planned.cell));
  planned.id = planned.cell.Id();
  planned.budget.warmup_steps = 0;
  planned.budget.fixed_steps = iterations;
  Interrupt interrupt;
  LiveLine line;
  const auto show = [&](const RunProgress& progress) {
    line.Show(ProgressText(planned.cell, progress.stage, progress.steps, progress.last_step_ns,
                           progress.loss, progress.rss_bytes, progress.elapsed_ns));
  };
  const RunResult result =
      RunCell(workers, SingleRun(planned, readers, nullptr), show, interrupt.stop());
  line.Clear();
  if (result.record.outcome != Outcome::kOk) {
    FailProgram(fmt::format("{}: {}: {}", planned.cell.Text(kAxisWorker),
                            Name(result.record.outcome), result.record.reason));
    return std::optional<std::vector<BlasCall>>();
  }
  return std::optional(TENCH_TRY(ReadRecords(folder.path())));
}

std::string Seconds(int64_t time_ns) {
  return fmt::format("{:.5g}", static_cast<double>(time_ns) / 1e9);
}

std::string Rendered(const CensusResult& result) {
  std::vector<TextColumn> columns = {{"kind"}};
  const auto add_pair = [&](const char* calls, const char* seconds) {
    columns.push_back({calls, Align::kRight});
    columns.push_back({seconds, Align::kRight});
  };
  if (result.measured) add_pair("measured", "seconds");
  columns.push_back({"predicted, CPU", Align::kRight});
  columns.push_back({"predicted, GPU", Align::kRight});
  if (result.published) add_pair("thesis, GPU", "seconds");
  TextTable table(columns);
  using Kind = GemmKind GemmTable::*;
  const auto row = [&](const char* name, Kind kind, std::optional<int64_t> cpu,
                       std::optional<int64_t> gpu, bool published) {
    std::vector<std::string> cells = {name};
    const auto shown = [](std::optional<int64_t> count) {
      return count ? fmt::format("{}", *count) : std::string();
    };
    if (result.measured) {
      cells.push_back(fmt::format("{}", ((*result.measured).*kind).calls));
      cells.push_back(Seconds(((*result.measured).*kind).time_ns));
    }
    cells.push_back(shown(cpu));
    cells.push_back(shown(gpu));
    if (result.published) {
      const GemmKind& one = (*result.published).*kind;
      cells.push_back(published ? fmt::format("{}", one.calls) : "");
      cells.push_back(published ? Seconds(one.time_ns) : "");
    }
    table.AddRow(std::move(cells));
  };
  row("nn", &GemmTable::nn, result.cpu.nn, result.gpu.nn, true);
  row("nt", &GemmTable::nt, result.cpu.nt, result.gpu.nt, true);
  row("tn", &GemmTable::tn, result.cpu.tn, result.gpu.tn, true);
  row("bias (nn, k = 1)", &GemmTable::bias, result.cpu.bias, std::nullopt, false);
  if (result.measured) {
    if (result.measured->tt.calls > 0) row("tt", &GemmTable::tt, std::nullopt, std::nullopt, false);
    row("matrix-vector", &GemmTable::gemv, std::nullopt, std::nullopt, false);
    row("vectors (level 1)", &GemmTable::vector, std::nullopt, std::nullopt, false);
  }
  return table.Render();
}

Json KindToJson(const GemmKind& kind) {
  return {{"calls", kind.calls}, {"seconds", static_cast<double>(kind.time_ns) / 1e9}};
}

Json TableToJson(const GemmTable& table) {
  return {{"nn", KindToJson(table.nn)},         {"nt", KindToJson(table.nt)},
          {"tn", KindToJson(table.tn)},         {"tt", KindToJson(table.tt)},
          {"bias", KindToJson(table.bias)},     {"gemv", KindToJson(table.gemv)},
          {"level_1", KindToJson(table.vector)}};
}

Json CountsToJson(const GemmCounts& counts) {
  return {{"nn", counts.nn}, {"nt", counts.nt}, {"tn", counts.tn}, {"bias", counts.bias}};
}

Json CensusToJson(const CensusResult& result) {
  Json json = {{"title", result.title},
               {"forward_passes", result.passes.forward},
               {"backward_passes", result.passes.backward},
               {"predicted_cpu", CountsToJson(result.cpu)},
               {"predicted_gpu", CountsToJson(result.gpu)}};
  if (result.published) json["published_gpu"] = TableToJson(*result.published);
  if (!result.measured) return json;
  json["measured"] = TableToJson(*result.measured);
  for (const BlasCall& call : result.calls)
    json["calls"].push_back({{"function", call.function},
                             {"order", std::string(1, call.order)},
                             {"trans_a", std::string(1, call.trans_a)},
                             {"trans_b", std::string(1, call.trans_b)},
                             {"m", call.m},
                             {"n", call.n},
                             {"k", call.k},
                             {"calls", call.calls},
                             {"time_ns", call.time_ns}});
  return json;
}

Result<int> TakeCensus(const CensusFlags& flags) {
  Cell cell = TENCH_TRY(flags.axes.ToCell());
  const std::string& network = cell.Text(kAxisNetwork);
  if (network.empty()) return Failed("--network is missing (tench list networks)");
  const int64_t batch = cell.Integer(kAxisBatch);
  CensusResult result;
  result.passes = TENCH_TRY(PassesOf(flags, cell));
  const std::string data = TENCH_TRY(ResolveData(network, cell.Text(kAxisData)));
  const Graph whole =
      TENCH_TRY(LoadNetwork(network, data, cell.Integer(kAxisLength), FileReaders()));
  const TypedGraph graph =
      TENCH_TRY(Infer(cell.phase() == Phase::kForward ? InferenceGraph(whole) : whole, batch));
  const auto [forward, backward] = result.passes;
  result.cpu = TENCH_TRY(PredictCaffeGemms(graph, forward, backward, BlasPath::kCpu));
  result.gpu = TENCH_TRY(PredictCaffeGemms(graph, forward, backward, BlasPath::kGpu));
  const int64_t iterations = TENCH_TRY(Count("--iterations", flags.iterations));
  if (network == kPublishedNetwork && batch == kPublishedBatchSize &&
      iterations == kPublishedIterations && backward == iterations)
    result.published = Published();
  result.title = fmt::format("{}, batch {}: {}, {}", network, batch,
                             Plural(forward, "forward pass", "forward passes"),
                             Plural(backward, "backward pass", "backward passes"));
  if (!cell.Text(kAxisWorker).empty()) {
    const auto calls = TENCH_TRY(Record(cell, iterations));
    if (!calls) return kExitFailedRuns;
    result.calls = *calls;
    result.measured = CountGemms(result.calls);
  }
  if (flags.json) {
    fmt::print("{}\n", PrintJson(CensusToJson(result), 1));
    return kExitOk;
  }
  fmt::print("Matrix products of {}\n{}", result.title, Rendered(result));
  if (result.measured && result.calls.empty())
    fmt::print(
        "{} called no BLAS through the dynamic linker: its BLAS is linked statically, or it\n"
        "multiplies matrices otherwise.\n",
        cell.Text(kAxisWorker));
  return kExitOk;
}

}  // namespace

Command AddCensusCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand(
      "census", "Count the matrix products of a network: measured, predicted and published");
  auto flags = std::make_shared<CensusFlags>();
  flags->axes.AddTo(*app);
  app->add_option("--iterations", flags->iterations, "steps of the run [20]")
      ->group("How to measure")
      ->type_name("");
  app->add_option("--forward", flags->forward,
                  "predicted forward passes [the iterations; caffe makes one more at the end]")
      ->group("How to measure")
      ->type_name("");
  app->add_flag("--json", flags->json, "print JSON, with every problem")->group("Output");
  app->footer(
      "Kinds: nn, nt, tn = which operands are transposed, as in Table 5.1 of the UFSM thesis.\n"
      "Predicted: the calls of Caffe, row-major on the CPU, by cuBLAS on the GPU. Measured: with\n"
      "--worker, the calls of a dynamically linked BLAS.\n"
      "  tench census --network alexnet --batch 512\n"
      "  tench census --worker mxnet --network lenet --batch 64 --iterations 5\n"
      "Exit code: 0 printed, 4 the run failed, 2 bad input.");
  return {app, [flags] { return TakeCensus(*flags); }};
}

}  // namespace tench
