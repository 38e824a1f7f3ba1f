// SPDX-License-Identifier: Apache-2.0
// Opens the live page of a study in headless Chromium while its runs are added, and tries to read
// it from other sites in that browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "chromium.h"
#include "report/html/test_report.h"
#include "report/serve/site.h"
#include "store/live_progress.h"

namespace tench::live_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// What a reader sees.
constexpr const char* kSeen = R"((() => {
  const text = (id) => document.getElementById(id).textContent;
  const count = (selector) => document.querySelectorAll(selector).length;
  return {
    complaints, state: text("live-state"), facts: text("live-facts"), stage: text("live-stage"),
    label: text("live-label"), bar: document.getElementById("live-bar").value,
    curves: count("#live-loss polyline"), now: count("#live-loss polyline.now"),
    rows: count("#live-ranking tbody tr"), behind: !document.getElementById("live-behind").hidden,
    answers: count("#answers .answer"), ran: typeof window.pwned, title: document.title,
  };
})())";

class LivePageTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!Chromium::Installed())
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

  // Every request is answered as `tench serve` answers it.
  void Serve() {
    server_->Start([&](const RequestHead& head) {
      HttpAnswer answer = AnswerRequest(head, server_->port(), *report_);
      ++(answer.status == 200 ? answered_ : refused_);
      return answer;
    });
  }

  void StartBrowser(const std::vector<std::string>& flags = {}) {
    auto browser = Chromium::Start(1280, 900, flags);
    ASSERT_TRUE(browser.ok()) << browser.error().message;
    browser_ = *std::move(browser);
  }

  void Await(const std::string& condition) {
    const Status met = browser_->Await(condition);
    ASSERT_TRUE(met.ok()) << met.error().message;
  }

  const TemporaryFolder folder_ = *TemporaryFolder::Make("tench-live-page");
  const std::filesystem::path database_ = folder_.path() / "live.db";
  std::optional<Store> store_;
  std::optional<LiveProgressFile> file_;
  std::unique_ptr<LiveReport> report_;
  std::atomic<int> answered_ = 0, refused_ = 0;
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<Chromium> browser_;
  int64_t study_ = 0, done_ = 0;
};

TEST_F(LivePageTest, FollowsAStudyWhoseRunsAreAddedWhileItIsOpen) {
  Serve();
  ASSERT_NO_FATAL_FAILURE(StartBrowser());
  const auto probe = ReadFile(std::filesystem::path(TENCH_SOURCE_DIR) / "tests/page/probe_head.js");
  ASSERT_TRUE(browser_->RunEarly(*probe).ok());
  const Status opened = browser_->Open(fmt::format("http://127.0.0.1:{}/", server_->port()));
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  // The press keeps the page from drawing its charts again.
  ASSERT_TRUE(browser_->Evaluate("dispatchEvent(new Event('pointerdown'))").ok());
  ASSERT_NO_FATAL_FAILURE(Await("document.title.startsWith('25 ')"));
  Add("torch", 0);
  Report("mxnet", 1);
  ASSERT_NO_FATAL_FAILURE(
      Await("document.title.startsWith('50 ') && "
            "document.querySelectorAll('#live-ranking tbody tr').length === 2"));
  const auto observed = browser_->Evaluate(kSeen);
  ASSERT_TRUE(observed.ok()) << observed.error().message;
  const Json& seen = *observed;
  EXPECT_EQ(seen["complaints"], Json::array());
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
  Serve();
  ASSERT_NO_FATAL_FAILURE(StartBrowser({"--host-resolver-rules=MAP evil.example 127.0.0.1"}));
  const Status opened = browser_->Open(fmt::format("http://evil.example:{}/live", server_->port()));
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  const auto text = browser_->Text();
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_THAT(*text, HasSubstr("the Host header does not name this page"));
  EXPECT_THAT(*text, Not(HasSubstr("torch")));
  EXPECT_EQ(answered_, 0);
}

TEST_F(LivePageTest, AnotherSiteOfThisMachineReadsNothing) {
  Serve();
  auto other = HttpServer::Bind(0);
  ASSERT_TRUE(other.ok());
  (*other)->Start([&](const RequestHead&) {
    return HttpAnswer{200, "text/html", "<body>another site</body>"};
  });
  ASSERT_NO_FATAL_FAILURE(StartBrowser());
  const Status opened = browser_->Open(fmt::format("http://127.0.0.1:{}/", (*other)->port()));
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  for (const char* mode : {"cors", "no-cors"}) {
    // A connection that a busy machine drops is no refusal: only one that arrived counts.
    refused_ = 0;
    for (int attempt = 0; attempt < 10 && refused_ == 0; ++attempt) {
      const auto read = browser_->Evaluate(
          fmt::format("fetch('http://127.0.0.1:{}/live', {{mode: '{}'}})"
                      "  .then((answer) => answer.text()).then((text) => `read ${{text}}`)"
                      "  .catch(() => 'no answer')",
                      server_->port(), mode));
      ASSERT_TRUE(read.ok()) << read.error().message;
      EXPECT_EQ(*read, "no answer") << mode;
    }
    EXPECT_GE(refused_, 1) << "the request of mode " << mode << " arrived";
  }
  EXPECT_EQ(answered_, 0);
}

}  // namespace
}  // namespace tench::live_test
