// SPDX-License-Identifier: Apache-2.0
#pragma once
// The time of each layer, forward and backward, by PyTorch's record functions: while a Profile
// exists, every operator of its thread is timed. Autograd's sequence numbers map a backward
// operator to the layer of its forward operator. CPU only, where operators are synchronous. Thread
// safety: one Profile per thread at a time.

#include <ATen/record_function.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "net/graph.h"
#include "worker/adapter.h"

namespace tench::pytorch {

class Profile {
 public:
  Profile();
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  void BeginLayer(size_t layer);
  void EndLayer();
  void BeginUpdate();
  void EndUpdate();

  // Forgets all steps so far. Not during a step.
  void Clear() {
    tallies_.clear();
    events_.clear();
  }
  // Keeps the interval of every operator until the next call with false.
  void Record(bool on) { recording_ = on; }
  std::vector<TraceEvent> Events(const TypedGraph& graph) const;

  // One row per layer and direction, with the operator of the most exclusive time. Autograd
  // computes data and weight gradients in one node, so there is one direction "backward".
  std::vector<ProfileRow> Rows(const TypedGraph& graph, int64_t steps) const;

 private:
  enum class Direction { kForward, kBackward, kUpdate };
  struct Spot {
    size_t layer = 0;
    Direction direction = Direction::kForward;
    auto operator<=>(const Spot&) const = default;
  };
  struct Tally {
    int64_t time_ns = 0;
    std::map<std::string, int64_t> own_ns;  // by operator, without what it called
  };
  struct Frame {
    std::string name;
    int64_t start_ns = 0, called_ns = 0;
  };

  static std::unique_ptr<at::ObserverContext> Start(const at::RecordFunction& function);
  static void End(const at::RecordFunction& function, at::ObserverContext* context);
  bool FindSpot(const at::RecordFunction& function);

  at::CallbackHandle handle_ = 0;
  std::vector<Frame> frames_;  // of the operators that are running
  bool active_ = false;        // within a layer's forward call or the update
  Spot spot_;
  struct Range {
    uint64_t end = 0;
    size_t layer = 0;
  };
  uint64_t first_number_ = 0;          // autograd's, when the layer began
  std::map<uint64_t, Range> numbers_;  // of this step, by the first sequence number of a layer
  std::map<Spot, Tally> tallies_;
  struct Event {
    std::string name;
    Spot spot;
    int64_t start_ns = 0, time_ns = 0;
  };
  bool recording_ = false;
  std::vector<Event> events_;
};

}  // namespace tench::pytorch
