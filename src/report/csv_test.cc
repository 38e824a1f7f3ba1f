// SPDX-License-Identifier: Apache-2.0
#include "report/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "report/ranking_json.h"
#include "report/test_ranking.h"

namespace tench::csv_test {
namespace {

using testing::HasSubstr;

TEST(CsvTest, QuotesOnlyWhatMustBe) {
  EXPECT_EQ(CsvField("plain text"), "plain text");
  EXPECT_EQ(CsvField("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvField("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(CsvField("two\r\nlines"), "\"two\r\nlines\"");
  EXPECT_EQ(CsvField(""), "");
}

TEST(CsvTest, OneRecordPerCellWithAllAxesAndUnits) {
  RankingBuilder builder;
  builder.Add(TimedRun("reference", 640e6));
  builder.Add(
      FailedRun("torch", Outcome::kUnsupported, "not installed: pip install \"torch\" <2>"));
  EXPECT_EQ(
      RenderCsv(std::move(builder).Finish()),
      "machine,machine_id,cell_id,worker,network,data,device,threads,batch,precision,phase,"
      "input,images,labels,length,"
      "lr,momentum,weight_decay,seed,tuned,placement,data_threads,prefetch,optimizer,lr_policy,isa_"
      "limit,options,"
      "solver,worker_"
      "version,build,rules,"
      "cpu_model,isa,threads_used,outcome,runs_ok,runs_failed,rank,"
      "ratio_to_best,verdict,paired_rounds,paired_ratio,paired_ratio_low,paired_ratio_high,"
      "interleaved,image_ns,image_ns_low,image_ns_high,step_ns,step_ns_low,step_ns_high,"
      "median_image_ns,median_image_ns_low,median_image_ns_high,window_ns,"
      "images_per_s,flops_per_s,flops_effective,"
      "peak_rss_bytes,rss_before_build_bytes,start_ns,build_ns,first_step_ns,loading_ns,"
      "exposed_input_ns,end_to_end_ns,image_energy_j,idle_energy_share,cost_per_million_"
      "images,settings,tune_ns,"
      "tune_pays_steps,parity_error,parity_tensor,loss_step,loss,flags,"
      "failure,reason,"
      "reproducer,fingerprint,parameters,"
      "forward_flops_per_image,role,rounds,steps,latency_p50_ns,latency_p90_ns,"
      "latency_p99_ns\r\n"
      "pond,pond-id,7419fde170bedea7,reference,lenet,mnist,cpu,0,64,f32,train,fixed,0,0,0,"
      "0.01,0.9,0.0005,1,no,first,0,2,sgd,fixed,widest,,sgd,1.0+1a2b3c4,1a2b3c4d5e6f7081,"
      "4,Fish 9000,avx2,2,ok,1,0,1,"
      "1.0,,,,,,,10000000.0,,,640000000.0,,,"
      "10000000.0,9900000.0,10100000.0,1100000000.0,100.0,"
      "1375800000.0,false,"
      "5242880,3145728,1000001.0,2000002.0,,,,,,,,,,,,,103,0.125,,,,,00000000deadbeef,431080,"
      "4586000,"
      "oracle,1,100,,,\r\n"
      "pond,pond-id,5cba0275098bee48,torch,lenet,mnist,cpu,0,64,f32,train,fixed,0,0,0,"
      "0.01,0.9,0.0005,1,no,first,0,2,sgd,fixed,widest,,sgd,,,4,Fish 9000,avx2,2,unsupported,0,1,,"
      ",,,,,,,,,,,,,,,,,,,,"
      ",,,,,,,,,,,,,,,,,,,unsupported,\"not installed: pip install \"\"torch\"\" <2>\","
      "tench run --worker torch --network lenet --data mnist --batch "
      "64,00000000deadbeef,431080,4586000,framework,0,,,,\r\n");
}

TEST(CsvTest, NamesEveryAxis) {
  const std::vector<std::string> names = Split(Split(RenderCsv(Ranking{}), '\r')[0], ',');
  for (const Axis& axis : Axes()) EXPECT_THAT(names, testing::Contains(axis.column));
}

TEST(CsvTest, ARunOfAnOlderFileShowsThePlainVersion) {
  RunRecord run = TimedRun("reference", 640e6);
  run.build = run.cpu_model = run.isa = run.solver = "";
  run.rules = kUnnumberedRules;
  RankingBuilder builder;
  builder.Add(run);
  EXPECT_THAT(RenderCsv(std::move(builder).Finish()),
              HasSubstr(",no,first,0,2,sgd,fixed,widest,,,1.0,,1,,,2,ok,"));
}

TEST(CsvTest, AnImportedLogHasNoRules) {
  RunRecord run = TimedRun("caffe", 640e6);
  run.rules = kNoRules;
  RankingBuilder builder;
  builder.Add(run);
  EXPECT_THAT(RenderCsv(std::move(builder).Finish()), HasSubstr(",1a2b3c4d5e6f7081,,Fish 9000,"));
}

TEST(CsvTest, JoinsOptionsAndFlags) {
  RunRecord run = TimedRun("a", 1e6);
  run.cell.options = {{"layout", "nhwc"}, {"note", "a,b"}};
  run.flags = {"swapped", "unverified"};
  RankingBuilder builder;
  builder.Add(run);
  const std::string csv = RenderCsv(std::move(builder).Finish());
  EXPECT_THAT(csv, HasSubstr(",\"layout=nhwc;note=a,b\","));
  EXPECT_THAT(csv, HasSubstr(",swapped unverified,"));
}

TEST(RankingJsonTest, HasTheRowsOfTheCsvAndTheStudies) {
  const Result<Json> json = ParseJson(RenderJson(SmallRanking()), "ranking");
  ASSERT_TRUE(json.ok()) << json.error().message;
  ASSERT_EQ((*json)["rows"].size(), 3u);
  const Json& best = (*json)["rows"][0];
  EXPECT_EQ(best["worker"], "native");
  EXPECT_EQ(best["batch"], 64);
  EXPECT_EQ(best["rank"], 1);
  EXPECT_DOUBLE_EQ(best["image_ns"].get<double>(), 1e5);
  EXPECT_DOUBLE_EQ(best["step_ns"].get<double>(), 6.4e6);
  EXPECT_DOUBLE_EQ(best["images_per_s"].get<double>(), 1e4);
  EXPECT_EQ(best["runs_failed"], 1);
  EXPECT_EQ(best["failure"], "timeout");
  EXPECT_EQ(best["flags"], Json::array({"unverified"}));
  EXPECT_TRUE((*json)["rows"][2]["rank"].is_null());
  EXPECT_TRUE((*json)["rows"][2]["step_ns"].is_null());
  EXPECT_EQ((*json)["studies"][0]["host"]["cpu"], "fish");
  EXPECT_EQ((*json)["studies"][0]["seed"], TestStudy().seed);
  EXPECT_EQ((*json)["studies"][0]["rules"], kRules);
  EXPECT_EQ((*json)["studies"][0]["builds"]["reference"], "1a2b3c4d5e6f7081");
  EXPECT_EQ(best["worker_version"], "1.0+1a2b3c4");
  EXPECT_EQ(best["build"], "1a2b3c4d5e6f7081");
  EXPECT_EQ(best["rules"], kRules);
  EXPECT_EQ(best["cpu_model"], "Fish 9000");
  EXPECT_EQ(best["isa"], "avx2");
  EXPECT_EQ(best["solver"], "sgd");
}

TEST(RankingJsonTest, AnEmptyRankingIsValidJson) {
  const Result<Json> json = ParseJson(RenderJson(Ranking{}), "ranking");
  ASSERT_TRUE(json.ok());
  EXPECT_TRUE((*json)["rows"].empty());
}

TEST(RankingJsonTest, BrokenUtf8AndLossesThatAreNoNumbersStayValidJson) {
  RunRecord run = FailedRun("a", Outcome::kCrashed, "half \xe2\x82");
  RunRecord ok = TimedRun("b", 1e6);
  ok.summary.last_loss = std::nan("");
  RankingBuilder builder;
  builder.Add(run);
  builder.Add(ok);
  const Result<Json> json = ParseJson(RenderJson(std::move(builder).Finish()), "ranking");
  ASSERT_TRUE(json.ok()) << json.error().message;
  EXPECT_EQ((*json)["rows"][0]["loss"], "nan");
  EXPECT_EQ((*json)["rows"][0]["loss_step"], 103);
}

}  // namespace
}  // namespace tench::csv_test
