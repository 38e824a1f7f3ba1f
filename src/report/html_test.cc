// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/json.h"
#include "report/test_ranking.h"

namespace tench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string Between(const std::string& text, std::string_view from, std::string_view to) {
  const size_t begin = text.find(from);
  const size_t end = text.find(to, begin);
  return begin == std::string::npos || end == std::string::npos ? "" : text.substr(begin, end + to.size() - begin);
}

TEST(HtmlTest, ShowsARankedTableWithBars) {
  const std::string page = RenderHtml(SmallRanking(), {});
  EXPECT_EQ(Between(page, "<tr class=\"best\">", "</tr>"),
            "<tr class=\"best\"><td>1</td><td class=\"left\">native 1.0</td><td class=\"bar\"><div "
            "style=\"width:1.0%\"></div></td>"
            "<td>100 µs</td><td>±0.0 %</td><td>1.00</td><td>10000</td><td>6.4 ms</td><td>137.6</td><td>6.0 "
            "MiB</td><td>0.125</td>"
            "<td class=\"left\">ok 2/3</td><td class=\"left flag\">unverified</td></tr>");
  EXPECT_THAT(
      page,
      HasSubstr("<td class=\"left\">reference 1.0</td><td class=\"bar\"><div style=\"width:100.0%\"></div></td>"));
  EXPECT_THAT(page, HasSubstr("<h2>lenet on mnist, batch 64, train</h2>\n<p class=\"soft\">on the clock: train: "));
}

TEST(HtmlTest, ListsFailuresWithReasonAndReproducerEscaped) {
  const std::string page = RenderHtml(SmallRanking(), {});
  EXPECT_THAT(
      page,
      HasSubstr("<div class=\"failed\"><p>torch, lenet on mnist, batch 64, train</p><p><b>unsupported, 1 of 1 run</b> "
                "not installed: pip install &quot;torch&quot; &lt;2&gt;</p><p><code>tench run --worker torch"));
}

TEST(HtmlTest, EscapesEveryStoredText) {
  const std::string evil = "<script>alert(1)</script>";
  RunRecord run = TimedRun(evil, 1e6);
  run.cell.values[kAxisNetwork] = evil;
  run.cell.values[kAxisData] = evil;
  run.cell.options[evil] = evil;
  run.worker_version = run.machine = evil;
  run.flags = {evil};
  RunRecord failed = run;
  failed.outcome = Outcome::kCrashed;
  failed.reason = failed.reproducer = evil;
  RankingBuilder builder;
  for (const RunRecord& each : {run, run, failed}) builder.Add(each);
  Ranking ranking = std::move(builder).Finish();
  ranking.several_machines = true;
  StudyRecord study = TestStudy(evil);
  study.machine = study.filter = study.started_utc = study.tench_version = evil;
  study.host_json = Json{{evil, {evil, 1}}, {"cpu", {{"model", evil}}}}.dump();
  ranking.studies = {study};
  const std::string page = RenderHtml(ranking, {.title = evil, .made_utc = evil});
  EXPECT_THAT(page, AllOf(HasSubstr("&lt;script&gt;"), Not(HasSubstr("<script"))));
}

TEST(HtmlTest, NeedsNothingButItself) {
  const std::string page = RenderHtml(SmallRanking(), {.title = "Pond", .made_utc = "2026-01-02T03:04:05Z"});
  for (const char* needle : {"http:", "https:", "src=", "href=", "url(", "@import"})
    EXPECT_THAT(page, Not(HasSubstr(needle)));
  EXPECT_THAT(page, AllOf(HasSubstr("<title>Pond</title>"), HasSubstr("made 2026-01-02T03:04:05Z"),
                          HasSubstr("name=\"viewport\""), HasSubstr("prefers-color-scheme: dark"),
                          HasSubstr("<dt>cpu</dt><dd>fish</dd>")));
}

TEST(HtmlTest, EveryElementIsClosed) {
  const std::string page = RenderHtml(SmallRanking(), {});
  std::vector<std::string> open;
  for (size_t at = page.find('<'); at != std::string::npos; at = page.find('<', at + 1)) {
    const std::string tag = page.substr(at + 1, page.find_first_of(" >", at) - at - 1);
    if (tag == "!doctype" || tag == "meta") continue;
    if (tag.starts_with("/")) {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), tag.substr(1));
      open.pop_back();
    } else {
      open.push_back(tag);
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(HtmlTest, AnEmptyStoreIsAPageThatSaysSo) {
  EXPECT_THAT(RenderHtml(Ranking{}, {}), HasSubstr("There are no runs."));
}

}  // namespace
}  // namespace tench
