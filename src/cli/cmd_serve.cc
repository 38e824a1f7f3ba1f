// SPDX-License-Identifier: Apache-2.0
// `tench serve`: the report as a local page that follows a running sweep.
#include <sys/resource.h>

#include <cstdio>
#include <memory>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/chart_tools.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "report/serve/site.h"

namespace tench {
namespace {

constexpr int kDefaultPort = 8017;
constexpr int64_t kStopCheckNs = 100'000'000;

struct ServeFlags {
  std::string database = kDefaultDatabase, study = "latest", title;
  std::vector<std::string> only;
  int port = kDefaultPort;
  bool all_roles = false;
};

Result<LiveReportOptions> OptionsOf(const ServeFlags& flags) {
  LiveReportOptions options;
  options.database = flags.database;
  if (flags.study != "latest") options.study = TENCH_TRY(ParseInteger(flags.study).In("--study"));
  options.only = TENCH_TRY(ParseSelector(flags.only).In("--only"));
  options.all_roles = flags.all_roles;
  options.title = flags.title.empty() ? "tench" : flags.title;
  if (Result<std::string> script = ReadFile(ChartTools() / "vega.js"); script.ok()) {
    options.charts_script = *std::move(script);
  } else {
    fmt::print(stderr, "the page has no charts: {} is missing; run deps/fetch and build again\n",
               (ChartTools() / "vega.js").string());
  }
  return options;
}

// A run that is measured on this machine comes first. SCHED_IDLE would be too weak: beside busy
// threads on all CPUs the page would take minutes. Threads inherit the priority of this one.
void YieldToMeasurements() {
  constexpr int kNice = 10;
  (void)setpriority(PRIO_PROCESS, 0, kNice);
}

Result<int> Serve(const ServeFlags& flags) {
  LiveReportOptions options = TENCH_TRY(OptionsOf(flags));
  const std::unique_ptr<LiveReport> report = TENCH_TRY(LiveReport::Open(std::move(options)));
  const std::unique_ptr<HttpServer> server = TENCH_TRY(HttpServer::Bind(flags.port).In("--port"));
  Interrupt interrupt;
  fmt::print("http://127.0.0.1:{}/\n", server->port());
  std::fflush(stdout);
  fmt::print(stderr, "serving {} to this machine only; Ctrl-C ends it\n", flags.database);
  YieldToMeasurements();
  server->Start([&, port = server->port()](const RequestHead& head) {
    return AnswerRequest(head, port, *report);
  });
  SystemClock clock;
  while (!interrupt.stop().stop_requested()) clock.SleepUntil(clock.Now() + kStopCheckNs);
  server->Stop();
  return kExitOk;
}

}  // namespace

Command AddServeCommand(CLI::App& root) {
  CLI::App* app =
      root.add_subcommand("serve", "Show the report as a local page that follows a running sweep");
  auto flags = std::make_shared<ServeFlags>();
  app->add_option("--db", flags->database, fmt::format("results file [{}]", kDefaultDatabase))
      ->type_name("");
  app->add_option("FILE", flags->database, "results file, like --db")->type_name("");
  app->add_option("--study", flags->study,
                  "study number, or latest, which follows a new study [latest]")
      ->type_name("");
  app->add_option("--only", flags->only,
                  "use only matching runs, e.g. --only network=lenet,mlp --only batch=64")
      ->type_name("")
      ->take_all();
  app->add_option("--port", flags->port,
                  fmt::format("port of the page; 0 takes a free one [{}]", kDefaultPort))
      ->type_name("")
      ->check(CLI::Range(0, 65535).description(""));
  app->add_option("--title", flags->title, "title of the page")->type_name("");
  app->add_flag("--all-roles", flags->all_roles,
                "rank the baseline (native) and the oracle (reference) among the frameworks");
  app->footer(
      "Prints the address of the page, which only this machine can open. The page shows progress,\n"
      "the ranking so far and the losses of the run in progress. The results file is only read.\n"
      "  tench sweep quick --db my.db & tench serve my.db\n"
      "  ssh -L 8017:127.0.0.1:8017 HOST            then open the address on your own machine\n"
      "Exit code: 0 ended by Ctrl-C or SIGTERM, 2 bad input, such as a port that is in use.");
  return {app, [flags] { return Serve(*flags); }};
}

}  // namespace tench
