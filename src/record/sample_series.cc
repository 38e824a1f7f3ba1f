// SPDX-License-Identifier: Apache-2.0
// The blob: "TSMP", a version byte, then LEB128 numbers, signed ones in zigzag encoding. Numbers:
// added, stride, extra, the fields of the peaks, the number of samples, and each sample's fields as
// differences from the previous sample. New fields are appended and increment the version byte.
#include "record/sample_series.h"

#include <algorithm>
#include <array>

namespace tench {
namespace {

constexpr std::string_view kMagic = "TSMP";
constexpr char kVersion = 2;
constexpr size_t kFieldsOfVersion1 = 11;  // without a GPU

// The order of the fields in the blob.
constexpr std::array kFields = {
    &Sample::time_ns,
    &Sample::processes,
    &Sample::threads,
    &Sample::rss_bytes,
    &Sample::swap_bytes,
    &Sample::hwm_bytes,
    &Sample::cpu_ns,
    &Sample::minor_faults,
    &Sample::major_faults,
    &Sample::voluntary_switches,
    &Sample::involuntary_switches,
    &Sample::gpu_use_percent,
    &Sample::gpu_memory_bytes,
};

// Differences are modulo 2^64, so that a damaged blob cannot overflow.
void PutDifference(std::string& blob, int64_t now, int64_t before) {
  const auto difference =
      static_cast<int64_t>(static_cast<uint64_t>(now) - static_cast<uint64_t>(before));
  uint64_t folded =
      (static_cast<uint64_t>(difference) << 1) ^ static_cast<uint64_t>(difference >> 63);
  while (folded >= 0x80) {
    blob += static_cast<char>(folded | 0x80);
    folded >>= 7;
  }
  blob += static_cast<char>(folded);
}

void PutSample(std::string& blob, const Sample& sample, const Sample& before) {
  for (const auto field : kFields) PutDifference(blob, sample.*field, before.*field);
}

// Reads the encoding above; `good` becomes false at the first invalid byte.
struct Reader {
  std::string_view rest;
  size_t fields = kFields.size();
  bool good = true;

  int64_t Number(int64_t before = 0) {
    uint64_t folded = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest.empty()) break;
      const auto byte = static_cast<uint8_t>(rest.front());
      rest.remove_prefix(1);
      folded |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      const uint64_t difference = (folded >> 1) ^ (~(folded & 1) + 1);
      return static_cast<int64_t>(static_cast<uint64_t>(before) + difference);
    }
    good = false;
    return 0;
  }

  Sample Next(const Sample& before) {
    Sample sample;
    for (size_t i = 0; i < fields; ++i) sample.*kFields[i] = Number(before.*kFields[i]);
    return sample;
  }
};

}  // namespace

void SampleSeries::Add(const Sample& sample) {
  if (sample.processes == 0) return;
  for (const auto field : kFields) peak_.*field = std::max(peak_.*field, sample.*field);
  if (last_is_extra_)
    samples_.back() = sample;
  else
    samples_.push_back(sample);
  last_is_extra_ = added_ % stride_ != 0;
  ++added_;
  if (samples_.size() == kMostSamples) Thin();
}

void SampleSeries::Thin() {
  const Sample latest = samples_.back();
  size_t kept = 0;
  for (size_t i = 0; i < samples_.size(); i += 2) samples_[kept++] = samples_[i];
  samples_.resize(kept);
  stride_ *= 2;
  last_is_extra_ = (added_ - 1) % stride_ != 0;
  if (last_is_extra_) samples_.push_back(latest);
}

int64_t SampleSeries::PeakRssBytes() const { return std::max(peak_.rss_bytes, peak_.hwm_bytes); }

double SampleSeries::MeanCpus() const {
  if (samples_.size() < 2) return 0;
  const Sample& first = samples_.front();
  const Sample& last = samples_.back();
  const int64_t elapsed_ns = last.time_ns - first.time_ns;
  if (elapsed_ns <= 0) return 0;
  // The peak, because the sum drops when members end.
  return static_cast<double>(peak_.cpu_ns - first.cpu_ns) / static_cast<double>(elapsed_ns);
}

std::string SampleSeries::Encode() const {
  std::string blob(kMagic);
  blob += kVersion;
  PutDifference(blob, added_, 0);
  PutDifference(blob, stride_, 0);
  PutDifference(blob, last_is_extra_ ? 1 : 0, 0);
  PutSample(blob, peak_, Sample{});
  PutDifference(blob, static_cast<int64_t>(samples_.size()), 0);
  Sample before;
  for (const Sample& sample : samples_) {
    PutSample(blob, sample, before);
    before = sample;
  }
  return blob;
}

Result<SampleSeries> SampleSeries::Decode(std::string_view blob) {
  if (!blob.starts_with(kMagic) || blob.size() <= kMagic.size())
    return Failed("these are not samples of a run");
  const int version = static_cast<uint8_t>(blob[kMagic.size()]);
  if (version < 1 || version > kVersion)
    return Failed("samples of version {}; this tench reads versions up to {}", version,
                  int{kVersion});
  Reader reader{blob.substr(kMagic.size() + 1), version == 1 ? kFieldsOfVersion1 : kFields.size()};
  SampleSeries series;
  series.added_ = reader.Number();
  series.stride_ = reader.Number();
  series.last_is_extra_ = reader.Number() != 0;
  series.peak_ = reader.Next(Sample{});
  const int64_t count = reader.Number();
  const bool possible =
      count >= 0 && count < static_cast<int64_t>(kMostSamples) && count <= series.added_;
  if (series.stride_ < 1 || !possible) reader.good = false;
  Sample before;
  for (int64_t i = 0; reader.good && i < count; ++i) {
    before = reader.Next(before);
    series.samples_.push_back(before);
  }
  if (!reader.good || !reader.rest.empty()) return Failed("the samples of a run are damaged");
  return series;
}

}  // namespace tench
