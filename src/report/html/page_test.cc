// SPDX-License-Identifier: Apache-2.0
#include "report/html/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/html/test_report.h"
#include "report/row_text.h"

namespace tench::page_test {
namespace {

std::string PageOf(const ReportData& data, PageOptions options = {}) {
  return RenderPage(data, MakeCharts(data), options);
}

// On failure, prints only the expected text instead of a megabyte of page.
testing::AssertionResult Says(const std::string& page, std::string_view text) {
  if (page.find(text) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "the page has no '" << text << "'";
}

std::string Between(const std::string& text, std::string_view from, std::string_view to) {
  const size_t begin = text.find(from);
  const size_t end = text.find(to, begin);
  return begin == std::string::npos || end == std::string::npos
             ? ""
             : text.substr(begin, end + to.size() - begin);
}

TEST(PageTest, BeginsWithTheAnswersAndNamesTheStatisticOnce) {
  const std::string page = PageOf(SmallReport());
  EXPECT_TRUE(Says(page, "Fastest in 6 comparisons: <b>mxnet</b> in 6."));
  EXPECT_LT(page.find("<article class=\"answer"), page.find("<div class=\"tiles\">"));
  EXPECT_EQ(page.find(kStatisticMeaning), page.rfind(kStatisticMeaning));
  EXPECT_TRUE(Says(page, "<p class=\"soft\">All measured cells: verified.</p>"));
}

TEST(PageTest, ShowsParityCapabilityMachineAndNoise) {
  const std::string page = PageOf(SmallReport());
  for (const char* text :
       {"<td class=\"left\">mxnet 1.0+1a2b3c4</td><td class=\"left\">lenet</td>", "conv2 differs",
        "<dt>cpu</dt><dd>fish</dd>", "between rounds was ±0.2 %"}) {
    EXPECT_TRUE(Says(page, text));
  }
  EXPECT_TRUE(Says(page,
                   "<td class=\"unable\" title=\"unsupported: not installed "
                   "&lt;b&gt;yet&lt;/b&gt;\">unsupported<sup>1</sup></td>"));
  EXPECT_TRUE(Says(page, "<li>unsupported: not installed &lt;b&gt;yet&lt;/b&gt;</li>"));
}

TEST(PageTest, ALivePartComesFirstAndAloneMayReadFromThePagesAddress) {
  PageOptions options;
  options.live = {"<section id=\"live\"></section>\n", ".live-style {}", "follow();"};
  const std::string page = PageOf(SmallReport(), options);
  EXPECT_TRUE(Says(page, "; connect-src 'self'\">"));
  EXPECT_TRUE(Says(page, ".live-style {}"));
  EXPECT_TRUE(Says(page, "follow();"));
  EXPECT_TRUE(Says(page, "<a href=\"#live\">Live</a>"));
  EXPECT_LT(page.find("<section id=\"live\">"), page.find("<section id=\"summary\">"));
  for (const auto& [id, html] : SummaryParts(SmallReport()))
    EXPECT_TRUE(Says(page, fmt::format("<div id=\"{}\">\n{}</div>", id, html)));
  EXPECT_FALSE(Says(PageOf(SmallReport()), "connect-src")) << "a file reads nothing";
}

TEST(PageTest, HasTheSevenPartsInTheirOrder) {
  const std::string page = PageOf(SmallReport());
  size_t at = 0;
  for (const char* id : {"summary", "batch", "loss", "memory", "inside", "table", "then"}) {
    const size_t found = page.find(fmt::format("<section id=\"{}\">", id));
    ASSERT_NE(found, std::string::npos) << id;
    EXPECT_GT(found, at) << id;
    at = found;
  }
}

TEST(PageTest, EscapesEveryStoredText) {
  const std::string evil = "</script><script>alert(1)</script>\xe2\x80\xa8";
  RunRecord run = ReportRun(evil, 64), other = ReportRun("torch", 64);
  for (RunRecord* each : {&run, &other}) {
    each->cell.values[kAxisNetwork] = each->cell.values[kAxisData] = evil;
    each->cell.options[evil] = evil;
    each->worker_version = each->machine = evil;
    each->flags = {evil};
    each->cell_id = each->cell.Id();
  }
  RunRecord failed = run;
  failed.cell.values[kAxisBatch] = int64_t{1};
  failed.cell_id = failed.cell.Id();
  failed.outcome = Outcome::kCrashed;
  failed.reason = failed.reproducer = evil;
  ReportBuilder builder;
  for (const RunRecord& each : {run, other, failed}) builder.Add(each);
  ReportData data =
      *std::move(builder).Finish([](int64_t) { return Result<RunSeries>(ReportSeries()); });
  data.ranking.several_machines = true;
  StudyRecord study = TestStudy(evil);
  study.machine = study.filter = study.started_utc = study.tench_version = evil;
  study.host_json = Json{{evil, {evil, 1}}, {"cpu", {{"model", evil}}}}.dump();
  data.ranking.studies = {study};
  ParityRecord parity;
  parity.key = {evil, evil, evil, evil, evil, run.fingerprint, evil};
  parity.outcome = Outcome::kWrong;
  parity.reason = parity.worst_tensor = parity.checked_utc = evil;
  data.parities = {parity};
  const std::string page = PageOf(data, {.title = evil, .made_utc = evil, .charts_script = "1"});
  EXPECT_TRUE(Says(page, "&lt;script&gt;"));
  EXPECT_FALSE(Says(page, "<script>alert"));
  size_t scripts = 0;
  for (size_t at = page.find("</script>"); at != std::string::npos;
       at = page.find("</script>", at + 1))
    ++scripts;
  EXPECT_EQ(scripts, 3u) << "the data, the charts' script and the page's own";
}

TEST(PageTest, AsksTheNetworkForNothing) {
  const std::string page = PageOf(SmallReport());
  EXPECT_TRUE(Says(page, "default-src 'none'"));
  for (const char* needle : {"src=\"", "href=\"http", "url(", "@import"})
    EXPECT_FALSE(Says(page, needle)) << needle;
}

TEST(PageTest, WithoutTheChartsScriptItSaysWhatIsMissing) {
  const std::string without = PageOf(SmallReport());
  EXPECT_TRUE(Says(without, "charts left out") && Says(without, "deps/fetch"));
  EXPECT_FALSE(Says(without, "class=\"charts\""));
  const std::string with =
      PageOf(SmallReport(), {.title = "", .made_utc = "", .charts_script = "window.vegaEmbed = 1"});
  EXPECT_FALSE(Says(with, "chart left out") || Says(with, "charts left out"));
  EXPECT_TRUE(Says(with, "<div class=\"charts\" data-section=\"loss\"></div>"));
}

TEST(PageTest, TheDataOfTheChartsIsJsonInTheFile) {
  const std::string page = PageOf(SmallReport());
  const std::string mark = "id=\"tench-data\">";
  const std::string text = Between(page, mark, "</script>");
  const Json data = Json::parse(text.substr(mark.size(), text.size() - mark.size() - 9));
  EXPECT_EQ(data["tables"]["cells"]["n"], SmallReport().cells.size());
  EXPECT_EQ(data["charts"][0]["id"], "overview");
}

TEST(PageTest, EveryElementIsClosed) {
  const std::string page = PageOf(SmallReport());
  const std::string body = page.substr(0, page.find("<script"));
  std::vector<std::string> open;
  for (size_t at = body.find('<'); at != std::string::npos; at = body.find('<', at + 1)) {
    const std::string tag = body.substr(at + 1, body.find_first_of(" >\n", at) - at - 1);
    if (tag == "!doctype" || tag == "meta" || tag == "br") continue;
    if (tag.starts_with("/")) {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), tag.substr(1));
      open.pop_back();
    } else {
      open.push_back(tag);
    }
  }
  EXPECT_THAT(open, testing::ElementsAre("html", "body"));
}

// The limit is 5 MB less the charts' JavaScript.
TEST(PageTest, TenThousandRunsMakeASmallPage) {
  ReportBuilder builder;
  for (int64_t round = 0; round < 2; ++round) {
    for (const char* worker : {"mxnet", "torch", "tensorflow", "mxnet", "caffe"}) {
      for (int64_t batch = 1; batch <= 1000; ++batch)
        builder.Add(ReportRun(worker, batch, "train", round));
    }
  }
  const auto data =
      std::move(builder).Finish([](int64_t) { return Result<RunSeries>(ReportSeries()); });
  EXPECT_EQ(data->ranking.runs, 10'000);
  EXPECT_LT(PageOf(*data).size(), 4'100'000u);
}

TEST(PageTest, AnEmptyStoreIsAPageThatSaysSo) {
  EXPECT_TRUE(Says(PageOf(ReportData()), "There are no runs."));
}

}  // namespace
}  // namespace tench::page_test
