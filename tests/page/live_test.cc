// SPDX-License-Identifier: Apache-2.0
// Opens the live page of a study in headless Chromium while its runs are added, and tries to read
// it from other sites in that browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "report/html/test_report.h"
#include "report/serve/site.h"
#include "store/live_progress.h"

namespace tench::live_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string ProbeHead() {
  return "<script>" +
         *ReadFile(std::filesystem::path(TENCH_SOURCE_DIR) / "tests/page/probe_head.js") +
         "</script>";
}

// Writes what a reader sees into the page, once it shows the run that is added while it is open, or
// after a minute of virtual time. The press keeps the page from drawing its charts again.
constexpr const char* kProbeTail = R"(<script>
dispatchEvent(new Event("pointerdown"));
const began = performance.now();
const probe = setInterval(() => {
  const text = (id) => document.getElementById(id).textContent;
  const count = (selector) => document.querySelectorAll(selector).length;
  const arrived = document.title.startsWith("50 ") && count("#live-ranking tbody tr") === 2;
  if (!arrived && performance.now() - began < 60000) return;
  clearInterval(probe);
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = JSON.stringify({
    complaints, state: text("live-state"), facts: text("live-facts"), stage: text("live-stage"),
    label: text("live-label"), bar: document.getElementById("live-bar").value,
    curves: count("#live-loss polyline"), now: count("#live-loss polyline.now"),
    rows: count("#live-ranking tbody tr"), behind: !document.getElementById("live-behind").hidden,
    answers: count("#answers .answer"), ran: typeof window.pwned, title: document.title,
  });
  document.body.append(out);
}, 200);
</script>)";

class LivePageTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v chromium >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "chromium is not installed: deps/fetch --tests brings it";
    Result<Store> store = Store::Open(database_, Store::Mode::kReadWrite);
    ASSERT_TRUE(store.ok());
    StudyRecord study = TestStudy();
    study.rounds = 2;
    study.cells = 2;
    study.suite = "<script>window.pwned=1</script>";
    study_ = *store->AddStudy(study);
    store_.emplace(*std::move(store));
    file_.emplace(*LiveProgressFile::Create(database_, study_));
    Add("mxnet", 0);
    Report("torch", 0);
    LiveReportOptions options;
    options.database = database_;
    options.rest_factor = 0;  // the browser's virtual time may run ahead of a busy machine's
    auto report = LiveReport::Open(std::move(options));
    ASSERT_TRUE(report.ok()) << report.error().message;
    report_ = *std::move(report);
    auto server = HttpServer::Bind(0);
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = *std::move(server);
  }

  void Add(const std::string& worker, int64_t round) {
    RunRecord run = ReportRun(worker, 64, "train", round);
    run.study = study_;
    ASSERT_TRUE(store_->AddRun(run, ReportSeries()).ok());
    ++done_;
  }

  // The state of a run in progress, as a sweep writes it.
  void Report(const std::string& worker, int64_t round) {
    LiveProgress progress;
    progress.study = study_;
    progress.done = done_;
    progress.total = 4;
    progress.round = round;
    progress.rounds = 2;
    progress.eta_ns = 200e9;
    LiveRun run;
    run.worker = worker, run.network = "lenet", run.phase = "train", run.batch = 64;
    run.label = worker + " on <b>lenet</b>";
    run.stage = "measuring";
    run.steps = 50;
    run.last_step_ns = 1.5e6;
    for (int64_t step = 1; step <= 50; ++step)
      run.losses.push_back({step, 2.3 / static_cast<double>(step)});
    run.losses.push_back({51, std::numeric_limits<double>::quiet_NaN()});
    progress.run = run;
    ASSERT_TRUE(file_->Write(progress).ok());
  }

  // Virtual time passes without waiting wherever the page is idle.
  std::string Chromium(const std::string& flags, const std::string& address,
                       int virtual_ms = 8000) {
    const std::string command = fmt::format(
        "timeout 100 chromium --headless=new --no-sandbox --disable-gpu --no-first-run "
        "--user-data-dir={} --virtual-time-budget={} {} --dump-dom '{}' 2>/dev/null",
        (folder_.path() / "profile").string(), virtual_ms, flags, address);
    FILE* pipe = popen(command.c_str(), "r");
    std::string output;
    char buffer[65536];
    while (const size_t size = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, size);
    pclose(pipe);
    return output;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Make("tench-live-page");
  const std::filesystem::path database_ = folder_.path() / "live.db";
  std::optional<Store> store_;
  std::optional<LiveProgressFile> file_;
  std::unique_ptr<LiveReport> report_;
  std::unique_ptr<HttpServer> server_;
  int64_t study_ = 0, done_ = 0;
};

TEST_F(LivePageTest, FollowsAStudyWhoseRunsAreAddedWhileItIsOpen) {
  std::atomic<int> polls = 0;
  server_->Start([&](const RequestHead& head) {
    // The sweep goes on between the second and the third poll.
    if (head.path == "/live" && ++polls == 3) {
      Add("torch", 0);
      Report("mxnet", 1);
    }
    HttpAnswer answer = AnswerRequest(head, server_->port(), *report_);
    if (head.path == "/" && answer.status == 200) {
      answer.body.insert(answer.body.find("<head>") + 6, ProbeHead());
      answer.body.insert(answer.body.rfind("</body>"), kProbeTail);
    }
    return answer;
  });
  const std::string dom = Chromium("", fmt::format("http://127.0.0.1:{}/", server_->port()), 65000);
  const size_t begin = dom.rfind("<pre id=\"seen\">"), end = dom.find("</pre>", begin);
  ASSERT_NE(begin, std::string::npos) << "the page did not finish: " << dom.substr(0, 2000);
  std::string text = dom.substr(begin + 15, end - begin - 15);
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>("&lt;", "<"), {"&gt;", ">"}, {"&amp;", "&"}}) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1))
      text.replace(at, from.size(), to);
  }
  const Json seen = Json::parse(text);
  EXPECT_EQ(seen["complaints"], Json::array());
  EXPECT_GE(polls, 3);
  EXPECT_EQ(seen["state"],
            fmt::format("Study {}, <script>window.pwned=1</script> on pond: running, 2 of 4 runs.",
                        study_));
  EXPECT_EQ(seen["facts"], "round 2 of 2 · 3 min left");
  EXPECT_EQ(seen["label"], "mxnet on <b>lenet</b>");
  EXPECT_THAT(seen["stage"].get<std::string>(), HasSubstr("measuring · 50 timed steps"));
  EXPECT_THAT(seen["stage"].get<std::string>(), HasSubstr("loss not finite"));
  EXPECT_EQ(seen["bar"], 2);
  EXPECT_EQ(seen["curves"], 2) << "the present run, and the other worker's before it";
  EXPECT_EQ(seen["now"], 1);
  EXPECT_EQ(seen["rows"], 2) << "both workers are ranked";
  EXPECT_EQ(seen["behind"], true) << "the charts lack the added run";
  EXPECT_GE(seen["answers"].get<int>(), 1);
  EXPECT_EQ(seen["ran"], "undefined");
  EXPECT_EQ(seen["title"], "50 % · tench");
}

TEST_F(LivePageTest, ASiteThatResolvesToThisMachineReadsNothing) {
  server_->Start(
      [&](const RequestHead& head) { return AnswerRequest(head, server_->port(), *report_); });
  const std::string dom = Chromium("--host-resolver-rules='MAP evil.example 127.0.0.1'",
                                   fmt::format("http://evil.example:{}/live", server_->port()));
  EXPECT_THAT(dom, HasSubstr("the Host header does not name this page"));
  EXPECT_THAT(dom, Not(HasSubstr("torch")));
}

TEST_F(LivePageTest, AnotherSiteOfThisMachineReadsNothing) {
  std::atomic<int> refused = 0, answered = 0;
  server_->Start([&](const RequestHead& head) {
    HttpAnswer answer = AnswerRequest(head, server_->port(), *report_);
    ++(answer.status == 200 ? answered : refused);
    return answer;
  });
  auto other = HttpServer::Bind(0);
  ASSERT_TRUE(other.ok());
  (*other)->Start([&](const RequestHead&) {
    return HttpAnswer{200, "text/html",
                      fmt::format("<body>begin<script>"
                                  "for (const mode of ['cors', 'no-cors'])"
                                  " fetch('http://127.0.0.1:{}/live', {{mode}})"
                                  "  .then((answer) => answer.text())"
                                  "  .then((text) => document.body.append(`[${{text}}]`))"
                                  "  .catch(() => document.body.append('[no answer]'));"
                                  "</script></body>",
                                  server_->port())};
  });
  const std::string dom = Chromium("", fmt::format("http://127.0.0.1:{}/", (*other)->port()));
  EXPECT_THAT(dom, HasSubstr("begin"));
  EXPECT_THAT(dom, HasSubstr("[no answer]"));
  EXPECT_THAT(dom, Not(HasSubstr("version")));
  EXPECT_EQ(answered, 0);
  EXPECT_GE(refused, 1) << "the requests arrived";
}

}  // namespace
}  // namespace tench::live_test
