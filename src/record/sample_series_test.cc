// SPDX-License-Identifier: Apache-2.0
#include "record/sample_series.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace tench::sample_series_test {
namespace {

constexpr int64_t kTenth = 100'000'000;

Sample At(int64_t i) {
  return {.time_ns = 5'000'000'000 + i * kTenth,
          .processes = 1,
          .threads = 4,
          .rss_bytes = 1'000'000 + i * 4096,
          .cpu_ns = i * 2 * kTenth,
          .minor_faults = 10 * i};
}

SampleSeries SeriesOf(int64_t count) {
  SampleSeries series;
  for (int64_t i = 0; i < count; ++i) series.Add(At(i));
  return series;
}

TEST(SampleSeriesTest, KeepsThePeakOfEachValueByItself) {
  SampleSeries series;
  series.Add({.time_ns = 1,
              .processes = 1,
              .threads = 9,
              .rss_bytes = 100,
              .swap_bytes = 5,
              .cpu_ns = 10});
  series.Add({.time_ns = 2,
              .processes = 3,
              .threads = 4,
              .rss_bytes = 300,
              .swap_bytes = 7,
              .cpu_ns = 40});
  series.Add({.time_ns = 3,
              .processes = 2,
              .threads = 4,
              .rss_bytes = 200,
              .swap_bytes = 0,
              .cpu_ns = 30});
  EXPECT_EQ(series.PeakRssBytes(), 300);
  EXPECT_EQ(series.PeakSwapBytes(), 7);
  EXPECT_EQ(series.CpuNs(), 40);
  EXPECT_EQ(series.peak().threads, 9);
  EXPECT_EQ(series.peak().processes, 3);
  EXPECT_EQ(series.samples().size(), 3u);
}

TEST(SampleSeriesTest, TheKernelsMarkTellsWhatHappenedBetweenSamples) {
  SampleSeries series;
  series.Add({.processes = 1, .rss_bytes = 100, .hwm_bytes = 900});
  EXPECT_EQ(series.PeakRssBytes(), 900);
}

TEST(SampleSeriesTest, ATreeThatIsGoneIsNoSample) {
  SampleSeries series = SeriesOf(3);
  series.Add({.time_ns = 999'000'000'000});
  EXPECT_EQ(series.samples().size(), 3u);
  EXPECT_EQ(series, SeriesOf(3));
}

TEST(SampleSeriesTest, MeanCpusIsCpuTimeOverTime) {
  EXPECT_DOUBLE_EQ(SeriesOf(11).MeanCpus(), 2.0);
  EXPECT_DOUBLE_EQ(SeriesOf(1).MeanCpus(), 0);
  EXPECT_DOUBLE_EQ(SampleSeries().MeanCpus(), 0);
  SampleSeries ending = SeriesOf(11);  // a member ends, and its CPU time leaves the sum
  ending.Add({.time_ns = At(19).time_ns + kTenth, .processes = 1, .cpu_ns = kTenth});
  EXPECT_DOUBLE_EQ(ending.MeanCpus(), 1.0);
}

TEST(SampleSeriesTest, ALongRunIsThinnedButKeepsFirstLatestAndPeaks) {
  for (const int64_t count : {4095, 4096, 4097, 8191, 8192, 8193, 50'000}) {
    SampleSeries series;
    for (int64_t i = 0; i < count; ++i) {
      Sample sample = At(i);
      if (i == 1001) sample.rss_bytes = 1 << 30;
      series.Add(sample);
    }
    const std::vector<Sample>& samples = series.samples();
    EXPECT_LT(samples.size(), SampleSeries::kMostSamples);
    EXPECT_GE(samples.size(), SampleSeries::kMostSamples / 2);
    EXPECT_EQ(samples.front(), At(0));
    EXPECT_EQ(samples.back(), At(count - 1)) << count;
    EXPECT_EQ(series.PeakRssBytes(), 1 << 30);
    const int64_t step_ns = samples[1].time_ns - samples[0].time_ns;
    for (size_t i = 1; i + 1 < samples.size(); ++i) {
      ASSERT_EQ(samples[i].time_ns - samples[i - 1].time_ns, step_ns) << count << " at " << i;
    }
    EXPECT_GT(samples.back().time_ns, samples[samples.size() - 2].time_ns);
  }
}

TEST(SampleSeriesTest, ComesBackFromItsBlob) {
  for (const int64_t count : {0, 1, 2, 300, 4096, 10'001}) {
    const SampleSeries series = SeriesOf(count);
    const auto decoded = SampleSeries::Decode(series.Encode());
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    EXPECT_EQ(*decoded, series);
    SampleSeries further = *decoded, same = series;  // and accepts further samples
    further.Add(At(count));
    same.Add(At(count));
    EXPECT_EQ(further, same);
  }
}

TEST(SampleSeriesTest, ExtremeValuesComeBackToo) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                    kMost = std::numeric_limits<int64_t>::max();
  SampleSeries series;
  series.Add({.time_ns = kLeast, .processes = 1, .rss_bytes = kMost});
  series.Add({.time_ns = kMost, .processes = 1, .rss_bytes = kLeast});
  const auto decoded = SampleSeries::Decode(series.Encode());
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(*decoded, series);
}

TEST(SampleSeriesTest, TheBlobIsCompactAndTheSameEverywhere) {
  // Version 2; 0 added, stride 1 (zigzag: 2), no extra sample; thirteen peaks and 0 samples.
  EXPECT_EQ(SampleSeries().Encode(),
            std::string("TSMP\x02\x00\x02\x00", 8) + std::string(14, '\0'));
  EXPECT_LT(SeriesOf(1000).Encode().size(), 24'000u);
}

TEST(SampleSeriesTest, ReadsTheFirstVersionWhichKnewNoGpu) {
  // One sample of one process with three threads: eleven fields as peaks, a count of 1, and eleven
  // fields as the sample.
  const std::string fields = std::string("\x00\x02\x06", 3) + std::string(8, '\0');
  const auto decoded =
      SampleSeries::Decode(std::string("TSMP\x01\x02\x02\x00", 8) + fields + '\x02' + fields);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  ASSERT_EQ(decoded->samples().size(), 1u);
  EXPECT_EQ(decoded->samples()[0], (Sample{.processes = 1, .threads = 3}));
  EXPECT_EQ(decoded->samples()[0].gpu_use_percent, -1);
}

TEST(SampleSeriesTest, RefusesWhatIsNotABlobOfItsVersion) {
  EXPECT_FALSE(SampleSeries::Decode("").ok());
  EXPECT_FALSE(SampleSeries::Decode("TSMP").ok());
  EXPECT_FALSE(SampleSeries::Decode("SQLite format 3").ok());
  std::string newer = SeriesOf(3).Encode();
  newer[4] = 3;
  const auto decoded = SampleSeries::Decode(newer);
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.error().message, "samples of version 3; this tench reads versions up to 2");
}

TEST(SampleSeriesTest, RefusesEveryTruncationAndSurvivesEveryDamage) {
  const std::string blob = SeriesOf(20).Encode();
  for (size_t size = 0; size < blob.size(); ++size) {
    EXPECT_FALSE(SampleSeries::Decode(blob.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(SampleSeries::Decode(blob + '\0').ok());
  std::mt19937 random(5);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = blob;
    for (int hits = 0; hits < 3; ++hits)
      damaged[5 + random() % (damaged.size() - 5)] = static_cast<char>(random());
    const auto decoded = SampleSeries::Decode(damaged);
    EXPECT_TRUE(!decoded.ok() || decoded->samples().size() < SampleSeries::kMostSamples);
  }
}

}  // namespace
}  // namespace tench::sample_series_test
