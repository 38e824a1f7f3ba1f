// SPDX-License-Identifier: Apache-2.0
#pragma once
// MXNet's profiler, and the mapping of its events to layers. MXNet names an event by its operator
// alone. A profiled network therefore runs on the synchronous engine, in the order of the
// executor's listing, and events are matched to that listing in order. A process can be profiled
// once: MXNet has one event file.

#include <span>

#include "base/file.h"
#include "net/graph.h"
#include "record/profile_row.h"
#include "record/trace_event.h"
#include "workers/mxnet/library.h"

namespace tench::mxnet {

struct ListedNode {
  std::string op, name;  // "_backward_Convolution", "conv1_backward"
};
struct OpEvent {
  std::string op;
  int64_t time_ns = 0;
  int64_t start_ns = 0;  // of the time of day
  std::string thread = {};
};

// From MXExecutorPrint's text, in the order of execution.
std::vector<ListedNode> ParseListing(std::string_view listing);
// From the profiler's file (Chrome's trace format), in the order of time.
Result<std::vector<OpEvent>> ParseTrace(std::string_view text);
// `updated` are the parameters in the order of their updates. Events without a node get a row
// without a layer. `trace`, if it is not null, gets every event.
std::vector<ProfileRow> AttributeEvents(std::span<const OpEvent> events,
                                        std::span<const ListedNode> nodes, const TypedGraph& graph,
                                        std::span<const std::string> updated,
                                        std::vector<TraceEvent>* trace = nullptr);

class Profiler {
 public:
  static Result<std::unique_ptr<Profiler>> Make(const Library& library);

  // Steps before the last Start are not part of the events.
  void Start() { started_ = true; }
  // Called around every step. Ignored before Start, and after enough steps, because MXNet keeps all
  // events in memory.
  Status BeginStep();
  Status EndStep();
  Result<std::vector<OpEvent>> Finish();

 private:
  Profiler(const Library& library, TemporaryFolder folder)
      : library_(library), folder_(std::move(folder)) {}
  std::filesystem::path File() const { return folder_.path() / "profile.json"; }
  Status SetState(bool on);

  const Library& library_;
  TemporaryFolder folder_;
  bool started_ = false;
  int steps_ = 0;
};

}  // namespace tench::mxnet
