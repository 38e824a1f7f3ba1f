// SPDX-License-Identifier: Apache-2.0
#include "protocol/trace_file.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

namespace tench {
namespace {

constexpr size_t kMaxFileBytes = size_t{1} << 30;

Result<TraceEvent> ParseEvent(const std::string& line, const std::string& origin) {
  const Json json = TENCH_TRY(ParseJson(line, origin));
  Fields fields(json, origin);
  TraceEvent event;
  event.track = fields.String("track");
  event.name = fields.String("name");
  event.layer = fields.String("layer", "");
  event.direction = fields.String("direction", "");
  event.start_ns = fields.Integer("start_ns", 0, INT64_MAX);
  event.time_ns = fields.Integer("time_ns", 0, INT64_MAX);
  TENCH_TRY(fields.Finish());
  return event;
}

}  // namespace

Status WriteTraceFile(const std::filesystem::path& path, std::span<const TraceEvent> events) {
  std::string text;
  for (const TraceEvent& event : events) {
    Json json = {{"track", event.track},
                 {"name", event.name},
                 {"start_ns", event.start_ns},
                 {"time_ns", event.time_ns}};
    if (!event.layer.empty()) json["layer"] = event.layer;
    if (!event.direction.empty()) json["direction"] = event.direction;
    text += PrintJson(json) + "\n";
  }
  return WriteFileAtomically(path, text);
}

Result<std::vector<TraceEvent>> ReadTraceFile(const std::filesystem::path& path) {
  const std::string text = TENCH_TRY(ReadFile(path, kMaxFileBytes));
  std::vector<TraceEvent> events;
  int64_t number = 0;
  for (const std::string& line : Split(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    events.push_back(TENCH_TRY(ParseEvent(line, fmt::format("the trace, line {}", number))));
  }
  return events;
}

}  // namespace tench
