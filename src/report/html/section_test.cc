// SPDX-License-Identifier: Apache-2.0
// The text sections of the page, for a report whose numbers are known.
#include "report/html/section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/html/published.h"
#include "report/html/test_report.h"

namespace tench {
namespace {

using testing::HasSubstr;
using testing::Not;

ReportData Report(const std::vector<RunRecord>& runs) {
  ReportBuilder builder;
  for (const RunRecord& run : runs) builder.Add(run);
  return *std::move(builder).Finish([](int64_t) { return Result<RunSeries>(RunSeries()); });
}

// Two workers, `rounds` rounds, one cell each.
ReportData TwoWorkers(int64_t rounds) {
  std::vector<RunRecord> runs;
  for (int64_t round = 0; round < rounds; ++round) {
    runs.push_back(ReportRun("native", 64, "train", round));
    runs.push_back(ReportRun("torch", 64, "train", round));
  }
  return Report(runs);
}

ReportCell& Find(ReportData& data, const std::string& series) {
  for (ReportCell& cell : data.cells) {
    if (cell.series == series) return cell;
  }
  ADD_FAILURE() << "no cell of " << series;
  return data.cells.front();
}

size_t Count(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(SectionTest, HeadlineCountsWorkersCellsRunsAndVerifiedCells) {
  const std::string html = HeadlineSection(SmallReport());
  for (const char* tile : {"<b>3</b><span>workers</span>", "<b>1</b><span>network</span>",
                           "<b>15</b><span>cells, 14 ranked</span>", "<b>75</b><span>runs</span>",
                           "<b>14 / 14</b><span>ranked cells verified against the reference</span>",
                           "<b>±0.2 %</b><span>typical spread between rounds</span>"})
    EXPECT_THAT(html, HasSubstr(tile));
  EXPECT_THAT(html, Not(HasSubstr("machines")));
}

TEST(SectionTest, HeadlineTellsHowManyWinsTheRoundsConfirm) {
  ReportData data = TwoWorkers(5);
  EXPECT_THAT(HeadlineSection(data),
              HasSubstr("<b>native</b> is the fastest in 1 of 1 comparison; it wins by a margin"));
  Find(data, "torch").row.verdict = RatioVerdict::kAmbiguous;
  EXPECT_THAT(HeadlineSection(data), HasSubstr("1 of 1 comparison; 0 of these by a margin"));
  EXPECT_THAT(HeadlineSection(Report({ReportRun("native", 64)})), Not(HasSubstr("headline")));
}

TEST(SectionTest, HeadlineCountsUnverifiedCellsAndMachines) {
  ReportData data = TwoWorkers(1);
  Find(data, "torch").row.flags = {"unverified"};
  Find(data, "torch").machine_id = "lake";
  const std::string html = HeadlineSection(data);
  EXPECT_THAT(html, HasSubstr("<b>1 / 2</b>"));
  EXPECT_THAT(html, HasSubstr("<b>2</b><span>machines</span>"));
  EXPECT_THAT(html, Not(HasSubstr("typical spread"))) << "one round has no spread";
}

TEST(SectionTest, WinnersShowMarginIntervalAndVerdictOfThePairedTest) {
  ReportData data = TwoWorkers(5);
  RankRow& second = Find(data, "torch").row;
  ASSERT_TRUE(second.against_best);
  second.against_best->ratio = 1.5;
  second.against_best->interval.low = 1.25;
  second.against_best->interval.high = 1.75;
  std::string html = WinnersSection(data);
  EXPECT_THAT(html, HasSubstr("<td>1.50×</td><td class=\"soft\">1.25 … 1.75</td>"));
  EXPECT_THAT(html, HasSubstr("<span class=\"verdict faster\">faster</span>"));
  for (const auto& [verdict, text] :
       {std::pair(RatioVerdict::kFaster, "slower"), std::pair(RatioVerdict::kSame, "same"),
        std::pair(RatioVerdict::kAmbiguous, "ambiguous")}) {
    second.verdict = verdict;
    EXPECT_THAT(WinnersSection(data), HasSubstr(fmt::format("\"verdict {0}\">{0}</span>", text)));
  }
  EXPECT_THAT(html, Not(HasSubstr("* not measured side by side")));
  second.interleaved = false;
  html = WinnersSection(data);
  EXPECT_THAT(html, HasSubstr("ambiguous *</span>"));
  EXPECT_THAT(html, HasSubstr("* not measured side by side"));
}

TEST(SectionTest, WinnersOfOneRoundShowTheMediansMarginWithoutAnInterval) {
  EXPECT_THAT(WinnersSection(TwoWorkers(1)),
              HasSubstr("<td>9846</td><td class=\"left\">torch</td><td>4923</td><td>2.00×</td>"
                        "<td class=\"soft\"></td>"));
  EXPECT_THAT(WinnersSection(Report({ReportRun("native", 64)})), HasSubstr("no comparison"));
}

TEST(SectionTest, WinnersAreLimitedToSixtyComparisons) {
  std::vector<RunRecord> runs;
  for (int64_t batch = 1; batch <= 63; ++batch) {
    runs.push_back(ReportRun("native", batch));
    runs.push_back(ReportRun("torch", batch));
  }
  const std::string html = WinnersSection(Report(runs));
  EXPECT_EQ(Count(html, "<td class=\"left wrap\">"), 60u);
  EXPECT_THAT(html, HasSubstr("3 more comparisons are in the full table."));
}

TEST(SectionTest, MachineShowsFactsOnceWithHumanSizes) {
  ReportData data = TwoWorkers(5);
  StudyRecord study = TestStudy();
  study.host_json =
      R"({"cpu": {"model": "fish", "cores": 2}, "memory_bytes": 1073741824, "gpus": [],)"
      R"( "disks": [{"name": "a"}, {"name": "b"}], "flags": ["x", "y"]})";
  data.ranking.studies = {study, study};
  const std::string html = MachineSection(data);
  EXPECT_EQ(Count(html, "<b>pond</b> fish · 2 cores · 1.0 GiB · no GPU"), 1u);
  for (const char* fact : {"<dt>tench</dt><dd>0.1.0</dd>", "<dt>cpu cores</dt><dd>2</dd>",
                           "<dt>memory_bytes</dt><dd>1.0 GiB</dd>",
                           "<dt>disks 2 name</dt><dd>b</dd>", "<dt>flags</dt><dd>x, y</dd>"})
    EXPECT_THAT(html, HasSubstr(fact));
  EXPECT_THAT(html, HasSubstr("±0.2 % (median over 2 cells), at most ±0.2 %"));
}

TEST(SectionTest, MachineSaysThatOneRoundHasNoNoise) {
  EXPECT_THAT(MachineSection(TwoWorkers(1)), HasSubstr("unknown: no cell ran more than once"));
}

TEST(SectionTest, SpreadIsTheMedianAndTheLargestOverCells) {
  ReportData data = TwoWorkers(1);
  EXPECT_FALSE(SpreadOfStudy(data));
  data.cells.push_back(data.cells[0]);
  for (size_t i = 0; i < 3; ++i) data.cells[i].spread = 0.01 * static_cast<double>(1 + i * i);
  const std::optional<Spread> spread = SpreadOfStudy(data);
  ASSERT_TRUE(spread);
  EXPECT_DOUBLE_EQ(spread->median, 0.02);
  EXPECT_DOUBLE_EQ(spread->largest, 0.05);
  EXPECT_EQ(spread->cells, 3);
}

TEST(SectionTest, ParityShowsTheWorstTensorOrTheReason) {
  ReportData data = SmallReport();
  const std::string html = ParitySection(data);
  EXPECT_THAT(html, HasSubstr("<td class=\"left\"><span class=\"verdict faster\">verified</span>"
                              "</td><td>0.250</td><td class=\"left soft\">ops: conv1</td>"));
  EXPECT_THAT(html, HasSubstr("<span class=\"verdict slower\">wrong</span></td><td></td>"
                              "<td class=\"left soft\">conv2 differs</td>"));
  data.parities[0].outcome = Outcome::kTimeout;
  EXPECT_THAT(ParitySection(data), HasSubstr("<span class=\"verdict ambiguous\">timeout</span>"));
}

TEST(SectionTest, ParityOfOtherNetworksIsLeftOut) {
  ReportData data = SmallReport();
  data.parities[0].fingerprint = "another";
  EXPECT_EQ(Count(ParitySection(data), "<tr><td"), 1u);
  data.parities.clear();
  EXPECT_THAT(ParitySection(data), HasSubstr("No worker was verified on these networks."));
}

TEST(SectionTest, CapabilityCountsOkCellsAndNumbersReasons) {
  RunRecord crashed = ReportRun("torch", 16);
  crashed.outcome = Outcome::kCrashed;
  crashed.reason = "signal SIGSEGV";
  RunRecord also = crashed;
  also.cell.values[kAxisWorker] = std::string("mxnet");
  also.cell_id = also.cell.Id();
  const std::string html =
      CapabilitySection(Report({ReportRun("native", 64), ReportRun("native", 64, "forward"),
                                ReportRun("torch", 64), crashed, also}));
  EXPECT_THAT(html, HasSubstr("<td class=\"able\" title=\"ok, 1 cell\">✓</td>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"partly\" title=\"1 of 2 ok, crashed: signal SIGSEGV\">"
                              "1 of 2 ok, crashed<sup>1</sup></td>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"unable\" title=\"crashed: signal SIGSEGV\">"
                              "crashed<sup>1</sup></td>"));
  EXPECT_EQ(Count(html, "<td class=\"untried\">·</td>"), 2u) << "forward, in torch and mxnet";
  EXPECT_EQ(Count(html, "<li>crashed: signal SIGSEGV</li>"), 1u);
  EXPECT_EQ(Count(html, "<th>lenet<br>mnist<br>"), 2u);
}

TEST(SectionTest, PublishedTableHasEveryCallOfTheThesis) {
  const std::string html = PublishedSection();
  ASSERT_FALSE(PublishedGemms().empty());
  for (const PublishedGemm& gemm : PublishedGemms()) {
    EXPECT_THAT(html,
                HasSubstr(fmt::format("<td>{}</td><td>{}</td></tr>", gemm.seconds, gemm.calls)));
  }
  EXPECT_EQ(Count(html, "<tr><td"), PublishedGemms().size());
}

TEST(SectionTest, MethodListsEachPhaseOnTheClockOnce) {
  const std::string html = MethodSection(SmallReport());
  EXPECT_EQ(Count(html, "<li>"), 3u);
  for (const char* clock : {"<li>forward: inference and its loss; one resident batch</li>",
                            "<li>gradient: training forward and backward, no update; one",
                            "<li>train: training forward, backward and update; one resident"})
    EXPECT_THAT(html, HasSubstr(clock));
}

}  // namespace
}  // namespace tench
