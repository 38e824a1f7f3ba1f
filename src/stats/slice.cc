// SPDX-License-Identifier: Apache-2.0
#include "stats/slice.h"

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "stats/paired.h"
#include "stats/stats.h"

namespace tench {
namespace {

constexpr int64_t kMaxCount = int64_t{1} << 53;

Json ShareToJson(const std::optional<double>& share) {
  return share ? Json(*share) : Json(nullptr);
}

std::optional<double> ShareFrom(Fields& fields, std::string_view key) {
  if (!fields.Has(key)) return std::nullopt;
  return fields.Real(key);
}

Json SliceToJson(const TimedSlice& slice) {
  const SentinelReadings& sentinel = slice.noise.sentinel;
  Json json = {{"warmup_steps", slice.warmup_steps},
               {"steps", slice.steps},
               {"median_ns", slice.median_ns},
               {"stretches", slice.stretches.Encode()}};
  if (sentinel != SentinelReadings{})
    json["sentinel"] = {sentinel.before.compute_ns, sentinel.before.memory_ns,
                        sentinel.after.compute_ns, sentinel.after.memory_ns};
  if (slice.noise.steal_share) json["steal"] = ShareToJson(slice.noise.steal_share);
  if (slice.noise.throttled_share) json["throttled"] = ShareToJson(slice.noise.throttled_share);
  return json;
}

Result<TimedSlice> SliceFrom(const Json& json) {
  Fields fields(json, "slices");
  fields.AllowUnknown();
  TimedSlice slice;
  slice.warmup_steps = fields.Integer("warmup_steps", 0, kMaxCount);
  slice.steps = fields.Integer("steps", 1, kMaxCount);
  slice.median_ns = fields.Real("median_ns");
  const std::string stretches = fields.String("stretches");
  if (fields.Has("sentinel")) {
    const std::vector<int64_t> times = fields.Integers("sentinel", 0, kMaxCount);
    if (times.size() != 4) return Failed("slices.sentinel: has {} times, not 4", times.size());
    slice.noise.sentinel = {{times[0], times[1]}, {times[2], times[3]}};
  }
  slice.noise.steal_share = ShareFrom(fields, "steal");
  slice.noise.throttled_share = ShareFrom(fields, "throttled");
  TENCH_TRY(fields.Finish());
  slice.stretches = TENCH_TRY(StretchProfile::Decode(stretches).In("slices"));
  return slice;
}

}  // namespace

std::string SliceSet::Encode() const {
  if (slices.empty()) return "";
  Json list = Json::array();
  for (const TimedSlice& slice : slices) list.push_back(SliceToJson(slice));
  return PrintJson({{"set", id}, {"warmup_steps", warmup_steps}, {"slices", std::move(list)}});
}

Result<SliceSet> SliceSet::Decode(std::string_view text) {
  SliceSet set;
  if (text.empty()) return set;
  const Json json = TENCH_TRY(ParseJson(text, "slices"));
  Fields fields(json, "slices");
  fields.AllowUnknown();
  set.id = fields.Integer("set", 1, kMaxCount);
  set.warmup_steps = fields.Integer("warmup_steps", 0, kMaxCount);
  for (const Json& item : fields.Array("slices")) set.slices.push_back(TENCH_TRY(SliceFrom(item)));
  TENCH_TRY(fields.Finish());
  return set;
}

std::vector<StepPlace> StepOrder(size_t warmup_steps, size_t timed_steps, const SliceSet& set) {
  std::vector<StepPlace> order;
  size_t warmups = 0, timed = 0;
  const auto append = [&](size_t warmup_count, size_t timed_count, int64_t slice) {
    for (size_t i = 0; i < warmup_count && warmups < warmup_steps; ++i)
      order.push_back({false, warmups++, slice});
    for (size_t i = 0; i < timed_count && timed < timed_steps; ++i)
      order.push_back({true, timed++, slice});
  };
  append(static_cast<size_t>(set.warmup_steps), 0, 0);
  int64_t number = 0;
  for (const TimedSlice& slice : set.slices)
    append(static_cast<size_t>(slice.warmup_steps), static_cast<size_t>(slice.steps), ++number);
  // Of a run that failed in a slice.
  append(warmup_steps, timed_steps, set.slices.empty() ? 0 : number + 1);
  return order;
}

std::vector<NoiseReadings> SliceSet::noise() const {
  std::vector<NoiseReadings> readings;
  for (const TimedSlice& slice : slices) readings.push_back(slice.noise);
  return readings;
}

std::vector<double> SetRatios(std::span<const std::vector<double>> sets) {
  std::vector<double> logs;
  for (const std::vector<double>& set : sets) {
    for (const double ratio : set) logs.push_back(std::log(ratio));
  }
  const double centre = Median(logs);
  std::vector<double> distances;
  for (const double each : logs) distances.push_back(std::abs(each - centre));
  const double reach = kClipDeviations * RobustDeviation(distances);
  std::vector<double> ratios;
  for (const std::vector<double>& set : sets) {
    std::vector<double> clipped;
    for (const double ratio : set)
      clipped.push_back(std::clamp(std::log(ratio), centre - reach, centre + reach));
    ratios.push_back(std::exp(Median(std::move(clipped))));
  }
  return ratios;
}

}  // namespace tench
