// SPDX-License-Identifier: Apache-2.0
#pragma once
// What each layer costs, forward and backward, told by PyTorch's own record functions: while a
// Profile lives, every operator that its thread runs is timed. Autograd numbers what the forward
// pass makes, and the backward pass tells the numbers again: by them a layer's backward time is
// found. Works on the CPU only, where an operator's call is its work. One Profile per thread at a
// time.

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

  // One row per layer and direction, with the operator that took most of it; autograd finds
  // gradients of data and weights in one go, so that there is one direction "backward".
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
  uint64_t first_number_ = 0;  // autograd's, when the layer began
  std::map<uint64_t, Range>
      numbers_;  // of this step: first number -> the layer that has it and those up to `end`
  std::map<Spot, Tally> tallies_;
};

}  // namespace tench::pytorch
