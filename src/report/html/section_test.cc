// SPDX-License-Identifier: Apache-2.0
// The text sections of the page, for a report whose numbers are known.
#include "report/html/section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/html/published.h"
#include "report/html/test_report.h"

namespace tench::section_test {
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
    runs.push_back(ReportRun("mxnet", 64, "train", round));
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

TEST(SectionTest, CountsNameWorkersCellsRunsAndVerifiedCells) {
  const std::string html = CountsSection(SmallReport());
  for (const char* tile :
       {"<b>3</b><span>workers</span>", "<b>1</b><span>network</span>",
        "<b>15</b><span>cells, 14 measured</span>", "<b>75</b><span>runs</span>",
        "<b>14 / 14</b><span>measured cells verified against the reference</span>",
        "<b>±0.2 %</b><span>typical spread between rounds</span>"})
    EXPECT_THAT(html, HasSubstr(tile));
  EXPECT_THAT(html, Not(HasSubstr("machines")));
}

TEST(SectionTest, TheAnswerStatesWhatAWorkerCannotUse) {
  RunRecord run = ReportRun("torch", 64, "train", 0);
  run.worker_json = R"({"worker":{"facts":{"cannot_use":"torch.compile: it captures <Python>"}}})";
  EXPECT_THAT(AnswerSection(Report({run})),
              HasSubstr("torch cannot use torch.compile: it captures &lt;Python&gt;."));
  EXPECT_THAT(AnswerSection(TwoWorkers(1)), Not(HasSubstr("cannot use")));
}

TEST(SectionTest, CountsNameUnverifiedCellsAndMachines) {
  ReportData data = TwoWorkers(1);
  Find(data, "torch").row.flags = {"unverified"};
  Find(data, "torch").machine_id = "lake";
  const std::string html = CountsSection(data);
  EXPECT_THAT(html, HasSubstr("<b>1 / 2</b>"));
  EXPECT_THAT(html, HasSubstr("<b>2</b><span>machines</span>"));
  EXPECT_THAT(html, Not(HasSubstr("typical spread"))) << "one round has no spread";
}

// The row of the ranking that the sections compare.
RankRow& RowOf(ReportData& data, const std::string& worker) {
  for (RankRow& row : data.ranking.groups.at(0).rows) {
    if (row.worker == worker) return row;
  }
  ADD_FAILURE() << "no row of " << worker;
  return data.ranking.groups[0].rows[0];
}

TEST(SectionTest, ATileHasTheFastestItsLeadIntervalVerdictAndMemory) {
  const std::string html = AnswerSection(TwoWorkers(5));
  for (const char* text :
       {"<p class=\"headline\">Fastest in 1 comparison: <b>mxnet</b> in 1.</p>",
        "<h3>lenet on mnist, batch 64, train</h3>",
        "<b>mxnet</b> <span class=\"verdict faster\">faster</span>",
        "<b>2.00×</b> the speed of torch <span class=\"soft whole\">95 %: 2.00 … 2.00</span>",
        "<dt>peak memory</dt><dd>5.0 MiB (3.0 MiB before build)</dd>",
        "<dt>steps × rounds</dt><dd>100 × 5</dd>"})
    EXPECT_THAT(html, HasSubstr(text));
  EXPECT_THAT(html, Not(HasSubstr("best batch"))) << "one batch size";
  EXPECT_THAT(html, Not(HasSubstr("baseline")));
}

TEST(SectionTest, ATileTellsOtherVerdictsAndRoundsThatWereNotInterleaved) {
  ReportData data = TwoWorkers(5);
  RankRow& second = RowOf(data, "torch");
  for (const auto& [verdict, text] :
       {std::pair(RatioVerdict::kFaster, "slower"), std::pair(RatioVerdict::kSame, "same"),
        std::pair(RatioVerdict::kAmbiguous, "ambiguous")}) {
    second.verdict = verdict;
    EXPECT_THAT(AnswerSection(data), HasSubstr(fmt::format("\"verdict {0}\">{0}</span>", text)));
  }
  EXPECT_THAT(AnswerSection(data), HasSubstr("No worker is faster than all others"));
  EXPECT_THAT(AnswerSection(data), HasSubstr("mxnet has <b>2.00×</b> the speed of torch"));
  EXPECT_THAT(AnswerSection(data), HasSubstr("<dt>shortest time</dt><dd>mxnet</dd>"));
  EXPECT_THAT(AnswerSection(data), Not(HasSubstr("* not interleaved")));
  second.interleaved = false;
  EXPECT_THAT(AnswerSection(data), HasSubstr("ambiguous *</span>"));
  EXPECT_THAT(AnswerSection(data), HasSubstr("* not interleaved"));
}

TEST(SectionTest, TooFewRoundsHaveNoWinnerAndNoInterval) {
  const std::string html = AnswerSection(TwoWorkers(4)) + ComparisonsSection(TwoWorkers(4));
  EXPECT_THAT(html, HasSubstr("<b>no winner</b> <span class=\"soft\">4 of 5 rounds</span>"));
  EXPECT_THAT(html, Not(HasSubstr("2.00 … 2.00")));
  EXPECT_THAT(html, Not(HasSubstr("Fastest in")));
}

TEST(SectionTest, TheBaselineIsNeverTheWinnerButALine) {
  std::vector<RunRecord> runs;
  for (int64_t round = 0; round < 5; ++round) {
    RunRecord native = ReportRun("native", 64, "train", round);
    for (auto* time : {&native.summary.step_ns_median, &native.summary.step_ns_min})
      *time = **time / 4;
    runs.insert(runs.end(), {ReportRun("mxnet", 64, "train", round),
                             ReportRun("torch", 64, "train", round), native});
  }
  const ReportData data = Report(runs);
  const std::string html = AnswerSection(data) + ComparisonsSection(data);
  EXPECT_THAT(html, HasSubstr("Fastest in 1 comparison: <b>mxnet</b> in 1."));
  EXPECT_THAT(html, HasSubstr("<dt>baseline</dt><dd>50 % of native&#39;s speed</dd>"));
  EXPECT_THAT(html, Not(HasSubstr("<b>native</b>")));
}

TEST(SectionTest, ThreeBatchSizesHaveABestOneAndAllAreShown) {
  std::vector<RunRecord> runs;
  for (int64_t round = 0; round < 5; ++round) {
    for (const int64_t batch : {16, 32, 64}) {
      runs.push_back(ReportRun("mxnet", batch, "train", round));
      runs.push_back(ReportRun("torch", batch, "train", round));
    }
  }
  const std::string html = AnswerSection(Report(runs));
  EXPECT_EQ(Count(html, "<article"), 1u) << "one tile per network";
  EXPECT_THAT(html, HasSubstr("<dt>best batch</dt><dd>64 of 3 measured, "));
  EXPECT_THAT(html, HasSubstr("<tr><td>16</td><td class=\"left\"><b>mxnet</b></td><td>2.00×</td>"));
  EXPECT_THAT(html, HasSubstr("<tr><td>32</td>"));
}

TEST(SectionTest, FailuresAreRedTilesWithOutcomeReasonAndCommand) {
  RunRecord failed = FailedRun("caffe", Outcome::kCrashed, "signal <SIGSEGV>");
  RunRecord also = FailedRun("caffe", Outcome::kCrashed, "signal <SIGSEGV>", 16);
  also.cell_id = also.cell.Id();
  const std::string html = AnswerSection(Report({ReportRun("mxnet", 64), failed, also}));
  EXPECT_EQ(Count(html, "<article class=\"answer failed\">"), 1u) << "one tile per kind";
  EXPECT_THAT(html, HasSubstr("and 1 more cell</h3>"));
  EXPECT_THAT(html, HasSubstr("<b>caffe</b> <span class=\"verdict slower\">crashed, 1 of 1 run"));
  EXPECT_THAT(html, HasSubstr("<p>signal &lt;SIGSEGV&gt;</p>"));
  EXPECT_THAT(html, HasSubstr("<code>tench run --worker caffe"));
}

TEST(SectionTest, ComparisonsShowTheParityErrorBesideTheSpeed) {
  ReportData data = TwoWorkers(5);
  RowOf(data, "mxnet").parity_error = 0.0581;
  EXPECT_THAT(ComparisonsSection(data),
              testing::ContainsRegex("<b>mxnet</b></td><td>[^<]+</td><td class=\"soft\">0.058</td>"
                                     "<td class=\"left\"><span>torch</span></td><td>[^<]+</td>"
                                     "<td class=\"soft\"></td><td>2.00×</td>"));
  EXPECT_THAT(ComparisonsSection(TwoWorkers(5)), Not(HasSubstr("parity")));
}

TEST(SectionTest, EveryComparisonIsInTheTable) {
  std::vector<RunRecord> runs;
  for (int64_t batch = 1; batch <= 63; ++batch) {
    runs.push_back(ReportRun("mxnet", batch));
    runs.push_back(ReportRun("torch", batch));
  }
  EXPECT_EQ(Count(ComparisonsSection(Report(runs)), "scope=\"row\""), 63u);
  EXPECT_EQ(ComparisonsSection(ReportData()), "");
}

TEST(SectionTest, LatencyIsShownForInferenceOfOneImage) {
  ReportData data = Report({ReportRun("mxnet", 1, "forward")});
  EXPECT_EQ(LatencySection(data), "");
  data.cells[0].row.latency = Latency{100, 2e6, 3e6, 4e6};
  EXPECT_THAT(LatencySection(data),
              HasSubstr("<td class=\"left\">mxnet</td><td>2 ms</td><td>3 ms</td><td>4 ms</td>"));
}

TEST(SectionTest, MachineShowsFactsOnceWithHumanSizes) {
  ReportData data = TwoWorkers(5);
  StudyRecord study = TestStudy();
  study.host_json =
      R"({"cpu": {"model": "fish", "cores": 2}, "memory_bytes": 1073741824, "gpus": [],)"
      R"( "disks": [{"name": "a"}, {"name": "b"}], "flags": ["x", "y"],)"
      R"( "peak": [{"flops_per_s": 66089436920.07, "bytes_per_s": 62.2e9}]})";
  data.ranking.studies = {study, study};
  const std::string html = MachineSection(data);
  EXPECT_EQ(Count(html, "<b>pond</b> fish · 2 cores · 1.0 GiB · no GPU"), 1u);
  for (const char* fact :
       {"<dt>tench</dt><dd>0.1.0</dd>", "<dt>cpu cores</dt><dd>2</dd>",
        "<dt>memory_bytes</dt><dd>1.0 GiB</dd>", "<dt>peak 1 flops_per_s</dt><dd>66.1 GFLOP/s</dd>",
        "<dt>peak 1 bytes_per_s</dt><dd>62.2 GB/s</dd>", "<dt>disks 2 name</dt><dd>b</dd>",
        "<dt>flags</dt><dd>x, y</dd>"})
    EXPECT_THAT(html, HasSubstr(fact));
  EXPECT_THAT(html, HasSubstr("±0.2 % (median over 2 cells), at most ±0.2 %"));
}

TEST(SectionTest, MachineSaysThatOneRoundHasNoNoise) {
  EXPECT_THAT(MachineSection(TwoWorkers(1)),
              HasSubstr("unknown: no cell was measured in two rounds"));
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
  data.parities[0].key.fingerprint = "another";
  EXPECT_EQ(Count(ParitySection(data), "<tr><td"), 1u);
  data.parities.clear();
  EXPECT_THAT(ParitySection(data), HasSubstr("No worker was verified on these networks."));
}

TEST(SectionTest, ParityOfOtherBuildsAndCpusIsLeftOut) {
  ReportData data = SmallReport();
  data.parities[0].key.build = "another";
  EXPECT_EQ(Count(ParitySection(data), "<tr><td"), 1u);
  data.parities[1].key.cpu_model = "another";
  EXPECT_EQ(Count(ParitySection(data), "<tr><td"), 0u);
}

TEST(SectionTest, CapabilityCountsOkCellsAndNumbersReasons) {
  RunRecord crashed = ReportRun("torch", 16);
  crashed.outcome = Outcome::kCrashed;
  crashed.reason = "signal SIGSEGV";
  RunRecord also = crashed;
  also.cell.values[kAxisWorker] = std::string("caffe");
  also.cell_id = also.cell.Id();
  const std::string html =
      CapabilitySection(Report({ReportRun("mxnet", 64), ReportRun("mxnet", 64, "forward"),
                                ReportRun("torch", 64), crashed, also}));
  EXPECT_THAT(html, HasSubstr("<td class=\"able\" title=\"ok, 1 cell\">✓</td>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"partly\" title=\"1 of 2 ok, crashed: signal SIGSEGV\">"
                              "1 of 2 ok, crashed<sup>1</sup></td>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"unable\" title=\"crashed: signal SIGSEGV\">"
                              "crashed<sup>1</sup></td>"));
  EXPECT_EQ(Count(html, "<td class=\"untried\">·</td>"), 2u) << "forward, in torch and caffe";
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
}  // namespace tench::section_test
