// SPDX-License-Identifier: Apache-2.0
// `tench report`: the results as one HTML file.
#include <memory>

#include "base/clock.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/study_flags.h"
#include "report/html.h"
#include "report/summary.h"

namespace tench {
namespace {

struct ReportFlags {
  StudyFlags study;
  std::string output = "report.html", title;
};

Result<int> Report(const ReportFlags& flags) {
  Store store = TENCH_TRY(flags.study.Open());
  RankOptions options;
  options.study = TENCH_TRY(flags.study.Study(store));
  options.only = TENCH_TRY(flags.study.Filter());
  const Ranking ranking = TENCH_TRY(Rank(store, options));
  HtmlOptions html;
  html.made_utc = UtcNow();
  if (!flags.title.empty()) html.title = flags.title;
  TENCH_TRY(WriteFileAtomically(flags.output, RenderHtml(ranking, html)));
  fmt::print(stderr, "wrote {}\n", flags.output);
  return 0;
}

}  // namespace

Command AddReportCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("report", "The results as one self-contained HTML file");
  auto flags = std::make_shared<ReportFlags>();
  flags->study.AddTo(*app);
  app->add_option("-o,--output", flags->output, "the file to write [report.html]")->type_name("");
  app->add_option("--title", flags->title, "its title")->type_name("");
  return {app, [flags] { return Report(*flags); }};
}

}  // namespace tench
