// SPDX-License-Identifier: Apache-2.0
// Opens the report in headless Chromium, operates it as a reader would (probe_tail.js), and checks
// the resulting page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "chromium.h"
#include "report/html/page.h"
#include "report/html/test_report.h"

namespace tench::browser_test {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const fs::path kProbes = fs::path(TENCH_SOURCE_DIR) / "tests/page";

class BrowserTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!Chromium::Installed())
      GTEST_SKIP() << "chromium is not installed: deps/fetch --tests brings it";
    auto script = ReadFile(fs::path(TENCH_BIN_DIR).parent_path() / "share/tench/vega.js");
    if (!script.ok())
      GTEST_SKIP() << "the charts' JavaScript is missing: run deps/fetch and build again";
    script_ = *std::move(script);
    folder_.emplace(*TemporaryFolder::Make("tench-browser"));
  }

  // Opens the page of `data` in a window of that size.
  void Show(const ReportData& data, int width, int height) {
    const std::string page = RenderPage(
        data, MakeCharts(data), {.title = "Pond", .made_utc = "", .charts_script = script_});
    const fs::path path = folder_->path() / "report.html";
    ASSERT_TRUE(WriteFileAtomically(path, page).ok());
    auto browser = Chromium::Start(width, height);
    ASSERT_TRUE(browser.ok()) << browser.error().message;
    browser_ = *std::move(browser);
    ASSERT_TRUE(browser_->RunEarly(*ReadFile(kProbes / "probe_head.js")).ok());
    const Status opened = browser_->Open("file://" + path.string());
    ASSERT_TRUE(opened.ok()) << opened.error().message;
  }

  Json See(const ReportData& data, int width = 1280) {
    Show(data, width, 900);
    if (HasFatalFailure()) return Json::object();
    const auto seen = browser_->Evaluate(*ReadFile(kProbes / "probe_tail.js"));
    if (seen.ok()) return *seen;
    ADD_FAILURE() << "the page did not finish: " << seen.error().message;
    return Json::object();
  }

  std::string script_;
  std::optional<TemporaryFolder> folder_;
  std::unique_ptr<Chromium> browser_;
};

TEST_F(BrowserTest, DrawsEveryChartAndItsTableSortsAndFilters) {
  const ReportData data = SmallReport();
  const Json seen = See(data);
  ASSERT_THAT(seen["complaints"].get<std::vector<std::string>>(), IsEmpty());

  const Json& charts = seen["charts"];
  EXPECT_EQ(charts.size(), MakeCharts(data).charts.size());
  for (const auto& [id, chart] : charts.items()) EXPECT_EQ(chart["svg"], 1) << id;
  // Two workers, two batches.
  EXPECT_EQ(charts["time-by-batch"]["line"], 2);
  EXPECT_EQ(charts["time-by-batch"]["symbol"], 4);
  EXPECT_EQ(charts["rate-by-batch"]["line"], 2);
  EXPECT_EQ(charts["speed-up-worker"]["rect"], 2);
  EXPECT_EQ(charts["loss-by-batch"]["line"], 2);
  EXPECT_GE(charts["loss-by-batch"]["symbol"].get<int>(), 2 * 5) << "every fourth finite loss";
  EXPECT_EQ(charts["loss-by-worker"]["line"], 2);
  EXPECT_EQ(charts["use-over-time"]["line"], 4) << "memory and CPUs";
  EXPECT_EQ(charts["peak-memory"]["line"], 2);
  EXPECT_EQ(charts["phases"]["rect"], 6) << "three parts of two workers";
  EXPECT_EQ(charts["threads"]["line"], 4) << "speed-up and efficiency, each with its ideal";
  EXPECT_EQ(charts["step-times"]["rect"].get<int>(), 2 + 2) << "boxes and medians";
  EXPECT_EQ(charts["then-and-now"]["symbol"], 25 + 2);
  EXPECT_GE(charts["overview"]["rect"].get<int>(), 2 * 3 + 1);

  EXPECT_EQ(seen["rows"], data.cells.size());
  std::vector<Json> times = seen["fastestFirst"].get<std::vector<Json>>();
  ASSERT_EQ(times.size(), data.cells.size());
  EXPECT_TRUE(times.back().is_null()) << "what has no value comes last";
  times.pop_back();
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
  EXPECT_EQ(seen["sortedMark"], "ascending");
  std::vector<Json> slowest = seen["slowestFirst"].get<std::vector<Json>>();
  EXPECT_TRUE(slowest.back().is_null());
  slowest.pop_back();
  EXPECT_TRUE(std::is_sorted(slowest.rbegin(), slowest.rend()));
  EXPECT_EQ(seen["searched"],
            Json::array({Json::array({"torch", "forward"}), Json::array({"torch", "forward"})}));
  EXPECT_THAT(seen["filtered"].get<std::vector<std::string>>(),
              testing::AllOf(SizeIs(6), Each("16")));
  EXPECT_THAT(seen["command"].get<std::string>(), HasSubstr("tench run --worker"));
  EXPECT_EQ(seen["expanded"], (Json{"false", "true", "false", 0}));
  EXPECT_EQ(seen["rounds"], 5) << "every round of the opened row";
  EXPECT_EQ(seen["answers"], (Json{3, 1})) << "three phases; caffe failed";
  EXPECT_EQ(seen["firstScreen"], true);
  EXPECT_EQ(seen["printed"], (Json{data.cells.size(), 0}));
  EXPECT_EQ(seen["csv"].size(), data.cells.size() + 2)
      << "a header, the cells, and the end of the last line";
}

TEST_F(BrowserTest, SavesFiguresAndChangesItsTheme) {
  const Json seen = See(SmallReport());
  ASSERT_EQ(seen["saved"].size(), 2u);
  EXPECT_EQ(seen["saved"][0][0], "image/svg+xml");
  EXPECT_EQ(seen["saved"][1][0], "image/png");
  for (const Json& file : seen["saved"]) EXPECT_GT(file[1].get<int>(), 2000);
  EXPECT_EQ(seen["dark"], (Json{"dark", "rgb(17, 22, 23)"}));
}

TEST_F(BrowserTest, FitsAPhone) {
  const Json seen = See(SmallReport(), 390);
  EXPECT_LE(seen["overflow"].get<int>(), 0) << "the page scrolls sideways";
  EXPECT_GT(seen["frozen"][0].get<int>(), 100) << "the table scrolls";
  EXPECT_LE(std::abs(seen["frozen"][1].get<int>()), 2) << "its first column does not";
}

TEST_F(BrowserTest, ShowsHostileNamesAndRunsNoneOfThem) {
  const std::string evil =
      "</script><img src=x onerror=\"window.pwned=1\"><script>window.pwned=1</script>";
  ReportBuilder builder;
  for (const char* worker : {"mxnet", "torch"}) {
    for (const int64_t batch : {16, 64}) {
      RunRecord run = ReportRun(worker, batch);
      run.cell.values[kAxisNetwork] = evil;
      run.machine = evil;
      run.flags = {evil};
      run.cell_id = run.cell.Id();
      builder.Add(run);
    }
  }
  RunRecord failed = ReportRun(evil, 16, "forward");
  failed.outcome = Outcome::kCrashed;
  failed.reason = failed.reproducer = evil;
  builder.Add(failed);
  const auto data =
      std::move(builder).Finish([](int64_t) { return Result<RunSeries>(ReportSeries()); });
  const Json seen = See(*data);
  EXPECT_EQ(seen["ran"], "undefined");
  EXPECT_EQ(seen["charts"]["time-by-batch"]["line"], 2);
}

TEST_F(BrowserTest, IsPicturedByAScreenshot) {
  ASSERT_NO_FATAL_FAILURE(Show(SmallReport(), 1280, 1600));
  ASSERT_TRUE(browser_->Evaluate("tench.drawAll()").ok());
  const auto png = browser_->Screenshot();
  ASSERT_TRUE(png.ok()) << png.error().message;
  EXPECT_TRUE(png->starts_with("iVBORw0KGgo")) << "a PNG file's signature";
  EXPECT_GT(png->size(), 53'000u) << "a nearly empty picture: 40 kB before base64";
}

}  // namespace
}  // namespace tench::browser_test
