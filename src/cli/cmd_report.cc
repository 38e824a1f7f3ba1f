// SPDX-License-Identifier: Apache-2.0
// `tench report`: the results as one HTML file, and its charts as files for papers.
#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "base/file.h"
#include "cli/chart_tools.h"
#include "cli/command.h"
#include "cli/live_line.h"
#include "cli/study_flags.h"
#include "report/html/chart.h"
#include "report/html/figures.h"
#include "report/html/page.h"

namespace tench {
namespace {

struct ReportFlags {
  StudyFlags study;
  std::string output, title, figures;
  bool dark = false, all_roles = false, anonymous = false;
};

// Checked before the runs are read, which takes seconds for a large file.
Status CheckFolder(const std::string& output) {
  const std::filesystem::path folder = std::filesystem::path(output).parent_path();
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return Ok();
  return Failed("--output: there is no folder '{}'", folder.string());
}

Status WritePage(const ReportFlags& flags, const std::string& output, const ReportData& data,
                 const ChartSet& charts) {
  PageOptions options;
  options.made_utc = UtcNow();
  if (!flags.title.empty()) options.title = flags.title;
  const Result<std::string> script = ReadFile(ChartTools() / "vega.js");
  if (script.ok()) options.charts_script = *script;
  TENCH_TRY(WriteFileAtomically(output, RenderPage(data, charts, options)));
  if (!script.ok()) {
    fmt::print(stderr, "the report has no charts: {} is missing; run deps/fetch and build again\n",
               (ChartTools() / "vega.js").string());
  }
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(output, error);
  fmt::print(stderr, "wrote {}\n", error ? output : whole.string());
  return Ok();
}

Status WriteFigures(const ReportFlags& flags, const ChartSet& charts) {
  const std::vector<FigureFile> figures = FigureFiles(charts, flags.dark);
  if (figures.empty())
    return Failed("there is nothing to draw: no cell is ranked (see tench results)");
  LiveLine line;
  TENCH_TRY(DrawFigures(figures, ChartTools(), flags.figures, [&](size_t drawn) {
    line.Show(CountedProgress(drawn, figures.size(), "figures"));
  }));
  line.Print(
      fmt::format("wrote {} figures as SVG, PDF and PNG into {}", figures.size(), flags.figures));
  return Ok();
}

Result<int> Report(const ReportFlags& flags) {
  const bool page = flags.figures.empty() || !flags.output.empty();
  const std::string output = flags.output.empty() ? "report.html" : flags.output;
  if (page) TENCH_TRY(CheckFolder(output));
  Store store = TENCH_TRY(flags.study.Open());
  RankOptions options;
  if (const auto study = TENCH_TRY(flags.study.Study(store))) options.studies = {*study};
  options.only = TENCH_TRY(flags.study.Filter());
  options.all_roles = flags.all_roles;
  LiveLine line;
  line.Show(CountedProgress(0, 2, "reading the runs"));
  const ReportData data = TENCH_TRY(ReadReport(store, options, flags.anonymous));
  line.Show(CountedProgress(1, 2, "computing the charts"));
  const ChartSet charts = MakeCharts(data);
  line.Clear();
  if (page) TENCH_TRY(WritePage(flags, output, data, charts));
  if (!flags.figures.empty()) TENCH_TRY(WriteFigures(flags, charts));
  return 0;
}

}  // namespace

Command AddReportCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand(
      "report", "Write the results as one self-contained HTML file with charts");
  auto flags = std::make_shared<ReportFlags>();
  flags->study.AddTo(*app);
  flags->study.AddFileTo(*app);
  app->add_option("-o,--output", flags->output, "file to write [report.html]")->type_name("");
  app->add_option("--title", flags->title, "title of the report")->type_name("");
  app->add_option("--figures", flags->figures,
                  "write the charts as SVG, PDF and PNG into this folder; no report without -o")
      ->type_name("");
  app->add_flag("--all-roles", flags->all_roles,
                "rank the baseline (native) and the oracle (reference) among the frameworks");
  app->add_flag("--anonymous", flags->anonymous, "leave out names of machines, and paths");
  app->add_flag("--dark", flags->dark, "draw figures for a dark background");
  return {app, [flags] { return Report(*flags); }};
}

}  // namespace tench
