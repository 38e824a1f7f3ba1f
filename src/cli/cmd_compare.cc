// SPDX-License-Identifier: Apache-2.0
// `tench compare`: two sides, cell by cell, with verdicts and an exit code for CI jobs.
#include <memory>

#include "base/text.h"
#include "cli/command.h"
#include "cli/gate_flags.h"
#include "cli/output_terminal.h"
#include "cli/side_comparison.h"
#include "report/comparison_text.h"

namespace tench {
namespace {

struct CompareFlags {
  std::string a, b, database = kDefaultDatabase, margin = "1%", of = "shortest";
  std::vector<std::string> only;
  GateFlags gate;
  bool json = false, wide = false;
};

Result<int> Compare(const CompareFlags& flags) {
  const FailOn fail_on = TENCH_TRY(flags.gate.Findings());
  TENCH_TRY(flags.gate.CheckOutput());
  SideRequest request{flags.a, flags.b, flags.database, flags.only};
  request.margin = TENCH_TRY(ParseMargin(flags.margin));
  request.time = flags.of == "median" ? StepTime::kMedian : StepTime::kShortest;
  const Comparison comparison = TENCH_TRY(CompareSides(request));
  const ComparisonTitles titles{flags.a, flags.b};
  fmt::print("{}", flags.json
                       ? PrintJson(ComparisonToJson(comparison, titles), 1) + "\n"
                       : RenderComparison(comparison, titles, flags.wide ? 0 : OutputWidth()));
  return flags.gate.Conclude(std::vector{GateOf(comparison, titles)}, fail_on);
}

}  // namespace

Command AddCompareCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand(
      "compare", "Compare two sides cell by cell: faster, slower, same or ambiguous");
  auto flags = std::make_shared<CompareFlags>();
  app->add_option("A", flags->a, "baseline: a study, a results file, a worker or axis=value")
      ->required()
      ->type_name("");
  app->add_option("B", flags->b, "side that is compared with the baseline")
      ->required()
      ->type_name("");
  app->add_option("--db", flags->database,
                  fmt::format("results file of sides that name none [{}]", kDefaultDatabase))
      ->type_name("");
  app->add_option("--only", flags->only,
                  "use only matching cells of both sides, e.g. --only network=lenet,mlp")
      ->type_name("")
      ->take_all();
  app->add_option("--margin", flags->margin,
                  "treat ratios within this margin as the same, e.g. 2% [1%]")
      ->type_name("");
  app->add_option("--of", flags->of,
                  "compared step of each run; the shortest is the least noisy [shortest]")
      ->type_name("shortest|median")
      ->check(CLI::IsMember({"shortest", "median"}).description(""));
  app->add_flag("--json", flags->json, "print JSON, with every round");
  app->add_flag("--wide", flags->wide, "print all columns, even if they exceed the terminal");
  flags->gate.AddTo(*app, "failed,slower,ambiguous");
  app->footer(
      "A side is a study (a number, latest or previous), a results file, a worker, or a filter\n"
      "axis=value[,value], where the axis may also be option.NAME, machine or version; ';' joins\n"
      "several. Cells that agree in all other axes form pairs. A side without a study uses the "
      "newest\n"
      "study that has its runs; study=all pools all studies.\n"
      "  tench compare native torch                                  two workers\n"
      "  tench compare torch@2.14 torch@2.15 --only network=resnet50 two versions\n"
      "  tench compare threads=1 threads=2                           thread scaling\n"
      "  tench compare option.layout=nchw option.layout=channels_last\n"
      "  tench compare before.db after.db --margin 2%                two files, for a CI job\n"
      "  tench compare previous latest --db ci.db                    two newest studies of a file\n"
      "  tench compare 'machine=laptop;device=cpu' 'machine=server;device=gpu' --db all.db\n"
      "Exit code: 0 nothing that --fail-on names, 4 runs of B failed in a cell that A completed,\n"
      "1 a cell of B is slower, 3 a cell is ambiguous, 2 bad input. 4 comes before 1, 1 before 3.");
  return {app, [flags] { return Compare(*flags); }};
}

}  // namespace tench
