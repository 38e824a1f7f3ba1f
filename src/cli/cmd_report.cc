// SPDX-License-Identifier: Apache-2.0
// `tench report`: the results as one HTML file, and its charts as files for papers.
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/study_flags.h"
#include "report/html/chart.h"
#include "report/html/figures.h"
#include "report/html/page.h"

namespace tench {
namespace {

struct ReportFlags {
  StudyFlags study;
  std::string output, title, figures;
  bool dark = false;
};

// What came with tench: share/tench beside its bin.
std::filesystem::path ChartTools() { return ExecutableFolder().parent_path() / "share" / "tench"; }

Status WritePage(const ReportFlags& flags, const std::string& output, const ReportData& data,
                 const ChartSet& charts) {
  PageOptions options;
  options.made_utc = UtcNow();
  if (!flags.title.empty()) options.title = flags.title;
  const Result<std::string> script = ReadFile(ChartTools() / "vega.js");
  if (script.ok()) options.charts_script = *script;
  TENCH_TRY(WriteFileAtomically(output, RenderPage(data, charts, options)));
  if (!script.ok()) {
    fmt::print(stderr,
               "the report has no charts: {} is not there (deps/fetch and a build bring it)\n",
               (ChartTools() / "vega.js").string());
  }
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(output, error);
  fmt::print(stderr, "wrote {}\n", error ? output : whole.string());
  return Ok();
}

Status WriteFigures(const ReportFlags& flags, const ChartSet& charts) {
  const std::vector<FigureFile> figures = FigureFiles(charts, flags.dark);
  if (figures.empty()) return Failed("there is nothing to draw: no cell has been ranked");
  const bool live = isatty(STDERR_FILENO) == 1;
  TENCH_TRY(DrawFigures(figures, ChartTools(), flags.figures, [&](size_t drawn) {
    if (live) fmt::print(stderr, "\rdrew {} of {} figures", drawn, figures.size());
  }));
  fmt::print(stderr, "{}wrote {} figures as SVG, PDF and PNG into {}\n", live ? "\r" : "",
             figures.size(), flags.figures);
  return Ok();
}

Result<int> Report(const ReportFlags& flags) {
  Store store = TENCH_TRY(flags.study.Open());
  RankOptions options;
  options.study = TENCH_TRY(flags.study.Study(store));
  options.only = TENCH_TRY(flags.study.Filter());
  const ReportData data = TENCH_TRY(ReadReport(store, options));
  const ChartSet charts = MakeCharts(data);
  const bool page = flags.figures.empty() || !flags.output.empty();
  if (page)
    TENCH_TRY(WritePage(flags, flags.output.empty() ? "report.html" : flags.output, data, charts));
  if (!flags.figures.empty()) TENCH_TRY(WriteFigures(flags, charts));
  return 0;
}

}  // namespace

Command AddReportCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("report", "The results as one self-contained HTML file with charts");
  auto flags = std::make_shared<ReportFlags>();
  flags->study.AddTo(*app);
  app->add_option("-o,--output", flags->output, "the file to write [report.html]")->type_name("");
  app->add_option("--title", flags->title, "its title")->type_name("");
  app->add_option(
         "--figures", flags->figures,
         "write the charts as SVG, PDF and PNG into this folder instead (with -o: besides)")
      ->type_name("");
  app->add_flag("--dark", flags->dark, "figures for a dark background");
  return {app, [flags] { return Report(*flags); }};
}

}  // namespace tench
