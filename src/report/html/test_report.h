// SPDX-License-Identifier: Apache-2.0
#pragma once
// A small report whose numbers can be checked by hand. Not part of the product.

#include <cmath>
#include <limits>
#include <string>

#include "record/sample_series.h"
#include "report/html/report_data.h"
#include "report/test_ranking.h"

namespace tench {

// Time per image is 100 µs for mxnet, 200 µs for torch, at batch 64; smaller batches take longer
// per image.
inline RunRecord ReportRun(const std::string& worker, int64_t batch,
                           const std::string& phase = "train", int64_t round = 0,
                           int64_t threads = 0) {
  const double image_ns =
      (worker == "mxnet" ? 100e3 : 200e3) * (1 + 1.0 / static_cast<double>(batch));
  const double share = phase == "forward" ? 0.25 : phase == "gradient" ? 0.75 : 1;
  const double per_thread = threads == 1 ? 1.6 : 1;
  RunRecord run = TimedRun(worker,
                           image_ns * share * per_thread * static_cast<double>(batch) *
                               (1 + 0.001 * static_cast<double>(round)),
                           batch);
  static int64_t next_id = 0;
  run.id = ++next_id;
  run.study = 1;
  run.round = round;
  run.cell.values[kAxisPhase] = phase;
  run.cell.values[kAxisThreads] = threads;
  run.cell_id = run.cell.Id();
  run.threads = threads > 0 ? threads : 2;
  run.flags = {"verified"};
  return run;
}

// 100 steps of a falling loss, with a negative and an undefined one at the end, and three samples.
inline RunSeries ReportSeries() {
  RunSeries series;
  for (int i = 0; i < 100; ++i) series.step_ns.push_back(6'400'000 + i * 1000);
  series.warmup_ns = {7'000'000};
  for (int i = 0; i < 99; ++i) series.loss.push_back(2.3 / (1 + i));
  series.loss.push_back(-0.5);
  series.loss.push_back(std::numeric_limits<double>::quiet_NaN());
  SampleSeries samples;
  for (int i = 0; i < 3; ++i) {
    Sample sample;
    sample.time_ns = i * 100'000'000;
    sample.processes = sample.threads = 1;
    sample.rss_bytes = sample.hwm_bytes = (i + 1) << 20;
    sample.cpu_ns = i * 150'000'000;
    samples.Add(sample);
  }
  series.samples = samples.Encode();
  return series;
}

// mxnet and torch on lenet: batches 16 and 64, three phases, five rounds; mxnet with 1 and 2
// threads; caffe unsupported.
inline ReportData SmallReport() {
  ReportBuilder builder;
  for (int64_t round = 0; round < 5; ++round) {
    for (const char* worker : {"mxnet", "torch"}) {
      for (const char* phase : {"forward", "gradient", "train"}) {
        for (const int64_t batch : {16, 64}) builder.Add(ReportRun(worker, batch, phase, round));
      }
    }
    for (const int64_t threads : {1, 2})
      builder.Add(ReportRun("mxnet", 32, "train", round, threads));
    RunRecord failed = FailedRun("caffe", Outcome::kUnsupported, "not installed <b>yet</b>");
    failed.study = 1;
    failed.round = round;
    builder.Add(failed);
  }
  Result<ReportData> data =
      std::move(builder).Finish([](int64_t) { return Result<RunSeries>(ReportSeries()); });
  StudyRecord study = TestStudy();
  study.id = 1;
  data->ranking.studies = {study};
  ParityRecord verified = TestParity("mxnet"), wrong = TestParity("torch");
  verified.key.fingerprint = wrong.key.fingerprint = "00000000deadbeef";
  verified.worst = 0.25;
  verified.worst_tensor = "ops: conv1";
  wrong.outcome = Outcome::kWrong;
  wrong.reason = "conv2 differs";
  wrong.worst = 9;
  data->parities = {verified, wrong};
  return *std::move(data);
}

}  // namespace tench
