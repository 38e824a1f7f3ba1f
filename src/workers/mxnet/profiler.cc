// SPDX-License-Identifier: Apache-2.0
#include "workers/mxnet/profiler.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "net/cost.h"

namespace tench::mxnet {
namespace {

constexpr int kProfiledSteps = 50;
constexpr size_t kMaxTraceBytes = size_t{1} << 30;
constexpr std::string_view kBackward = "_backward";

bool IsUpdate(std::string_view op) { return op.ends_with("sgd_mom_update"); }

// The layer of a node named "LAYER", "LAYER.part" or either with "_backward"; if there is no such
// layer, the node's own name.
struct Origin {
  std::string layer;
  bool backward = false, whole = false;  // whole: the node is the layer's main op
  size_t index = 0;
};

Origin OriginOf(std::string_view node, const std::map<std::string, size_t>& layers) {
  const bool backward = node.ends_with(kBackward);
  const std::string_view base = backward ? node.substr(0, node.size() - kBackward.size()) : node;
  if (const auto found = layers.find(std::string(base)); found != layers.end())
    return {found->first, backward, true, found->second};
  for (size_t dot = base.rfind('.'); dot != std::string_view::npos && dot > 0;
       dot = base.rfind('.', dot - 1)) {
    if (const auto found = layers.find(std::string(base.substr(0, dot))); found != layers.end())
      return {found->first, backward, false, found->second};
  }
  return {std::string(base), backward, false, 0};
}

// Rows in the order of their first event.
class RowTable {
 public:
  ProfileRow& At(const std::string& layer, const std::string& direction,
                 const std::string& kernel) {
    const auto [found, fresh] =
        places_.emplace(std::array<std::string, 3>{layer, direction, kernel}, rows_.size());
    if (fresh) rows_.push_back({layer, direction, kernel});
    return rows_[found->second];
  }
  std::vector<ProfileRow> Take() { return std::move(rows_); }

 private:
  std::map<std::array<std::string, 3>, size_t> places_;
  std::vector<ProfileRow> rows_;
};

// The next node with this op at or after `cursor`; wraps around at a new step.
size_t NextNode(std::span<const ListedNode> nodes, size_t cursor, const std::string& op) {
  for (const size_t start : {cursor, size_t{0}}) {
    for (size_t i = start; i < nodes.size(); ++i) {
      if (nodes[i].op == op) return i;
    }
  }
  return nodes.size();
}

}  // namespace

std::vector<ListedNode> ParseListing(std::string_view listing) {
  constexpr std::string_view kOp = "Op:", kName = ", Name=";
  std::vector<ListedNode> nodes;
  for (const std::string& line : Split(listing, '\n')) {
    const size_t name = line.find(kName);
    if (!line.starts_with(kOp) || name == std::string::npos) continue;
    nodes.push_back({line.substr(kOp.size(), name - kOp.size()), line.substr(name + kName.size())});
  }
  return nodes;
}

Result<std::vector<OpEvent>> ParseTrace(std::string_view text) {
  const Json trace = TENCH_TRY(ParseJson(text, "MXNet's profile"));
  if (!trace.contains("traceEvents")) return Failed("MXNet's profile has no events");
  struct Stretch {
    std::string op;
    int64_t start_us = 0, end_us = 0;
    std::string thread = {};
  };
  std::vector<Stretch> stretches;
  std::map<std::string, std::vector<size_t>> open;  // begun but not ended, by thread and name
  for (const Json& event : trace["traceEvents"]) {
    if (event.value("cat", "") != "operator" || !event.contains("ts")) continue;
    const std::string name = event.value("name", ""), phase = event.value("ph", "");
    const std::string thread = event.contains("tid") ? PrintJson(event["tid"]) : "";
    const std::string key = fmt::format("{} {}", thread, name);
    if (phase == "B") {
      open[key].push_back(stretches.size());
      stretches.push_back({name, event["ts"].get<int64_t>(), 0, thread});
    } else if (phase == "E" && !open[key].empty()) {
      stretches[open[key].back()].end_us = event["ts"].get<int64_t>();
      open[key].pop_back();
    }
  }
  std::stable_sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) {
    return a.start_us != b.start_us ? a.start_us < b.start_us : a.end_us > b.end_us;
  });
  // The synchronous engine reports each op twice, nested.
  std::vector<OpEvent> events;
  const Stretch* outer = nullptr;
  for (const Stretch& stretch : stretches) {
    if (stretch.end_us < stretch.start_us) continue;
    if (outer != nullptr && outer->op == stretch.op && stretch.end_us <= outer->end_us) {
      outer = nullptr;
      continue;
    }
    outer = &stretch;
    events.push_back({stretch.op, (stretch.end_us - stretch.start_us) * 1000,
                      stretch.start_us * 1000, stretch.thread});
  }
  return events;
}

std::vector<ProfileRow> AttributeEvents(std::span<const OpEvent> events,
                                        std::span<const ListedNode> nodes, const TypedGraph& graph,
                                        std::span<const std::string> updated,
                                        std::vector<TraceEvent>* trace) {
  std::map<std::string, size_t> layers;
  for (size_t i = 0; i < graph.layers.size(); ++i) layers[graph.layers[i].layer.name] = i;
  const std::vector<Cost> costs = LayerCosts(graph);
  RowTable rows;
  size_t cursor = 0, update = 0;
  for (const OpEvent& event : events) {
    ProfileRow* row = nullptr;
    int64_t flops = 0;
    if (IsUpdate(event.op)) {
      const bool single = event.op == "sgd_mom_update" && !updated.empty();
      row = &rows.At(single ? updated[update++ % updated.size()] : "", "update", event.op);
    } else if (const size_t node = NextNode(nodes, cursor, event.op); node < nodes.size()) {
      cursor = node + 1;
      const Origin origin = OriginOf(nodes[node].name, layers);
      row = &rows.At(origin.layer, origin.backward ? "backward" : "forward", event.op);
      if (origin.whole)
        flops = origin.backward ? costs[origin.index].backward_flops
                                : costs[origin.index].forward_flops;
    } else {
      row = &rows.At("", "forward", event.op);
    }
    ++row->calls;
    row->time_ns += event.time_ns;
    row->flops += flops;
    if (trace != nullptr)
      trace->push_back({"thread " + event.thread, event.op, row->layer, row->direction,
                        event.start_ns, event.time_ns});
  }
  return rows.Take();
}

Result<std::unique_ptr<Profiler>> Profiler::Make(const Library& library) {
  std::unique_ptr<Profiler> profiler(
      new Profiler(library, TENCH_TRY(TemporaryFolder::Make("tench-mxnet-profile"))));
  const std::string file = profiler->File().string();
  const std::array<const char*, 3> keys = {"filename", "profile_symbolic", "profile_imperative"};
  const std::array<const char*, 3> values = {file.c_str(), "True", "True"};
  TENCH_TRY(library.Ask(library->MXSetProcessProfilerConfig(static_cast<int>(keys.size()),
                                                            keys.data(), values.data(), nullptr),
                        "profiler"));
  return profiler;
}

Status Profiler::SetState(bool on) {
  return library_.Ask(library_->MXSetProcessProfilerState(on ? 1 : 0, 0, nullptr), "profiler");
}

Status Profiler::BeginStep() { return started_ && steps_ < kProfiledSteps ? SetState(true) : Ok(); }

Status Profiler::EndStep() {
  return started_ && steps_++ < kProfiledSteps ? SetState(false) : Ok();
}

Result<std::vector<OpEvent>> Profiler::Finish() {
  TENCH_TRY(library_.Ask(library_->MXDumpProcessProfile(1, 0, nullptr), "profiler"));
  const std::string text = TENCH_TRY(ReadFile(File(), kMaxTraceBytes));
  return ParseTrace(text);
}

}  // namespace tench::mxnet
