// SPDX-License-Identifier: Apache-2.0
#include "profile/trace.h"

#include <algorithm>
#include <map>

#include "base/json.h"

namespace tench {
namespace {

constexpr int kProcess = 1;
constexpr int64_t kStepsThread = 1;

Json Metadata(const char* name, int64_t thread, Json arguments) {
  return {{"ph", "M"},
          {"name", name},
          {"pid", kProcess},
          {"tid", thread},
          {"args", std::move(arguments)}};
}

double Micros(int64_t ns) { return static_cast<double>(ns) / 1000; }

}  // namespace

std::string ChromeTrace(std::span<const TraceEvent> events, const std::string& process) {
  int64_t begin_ns = INT64_MAX;
  for (const TraceEvent& event : events) begin_ns = std::min(begin_ns, event.start_ns);
  Json list = Json::array();
  list.push_back(Metadata("process_name", 0, {{"name", process}}));
  std::map<std::string, int64_t> threads;
  for (const TraceEvent& event : events) {
    const bool is_step = event.track == kStepsTrack;
    const auto next = static_cast<int64_t>(threads.size()) + 1 + kStepsThread;
    const auto [found, fresh] = threads.try_emplace(event.track, next);
    const int64_t thread = is_step ? kStepsThread : found->second;
    if (fresh) {
      list.push_back(Metadata("thread_name", thread, {{"name", event.track}}));
      list.push_back(Metadata("thread_sort_index", thread, {{"sort_index", thread}}));
    }
    Json shown = {{"ph", "X"},
                  {"name", event.name},
                  {"cat", is_step ? "step" : event.direction},
                  {"pid", kProcess},
                  {"tid", thread},
                  {"ts", Micros(event.start_ns - begin_ns)},
                  {"dur", Micros(event.time_ns)}};
    if (!event.layer.empty())
      shown["args"] = {{"layer", event.layer}, {"direction", event.direction}};
    list.push_back(std::move(shown));
  }
  const Json trace = {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(list)}};
  return trace.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tench
