// SPDX-License-Identifier: Apache-2.0
#include "workers/torch/profile.h"

#include <ATen/SequenceNumber.h>

#include <algorithm>

#include "base/clock.h"
#include "net/cost.h"
#include "worker/trace_track.h"

namespace tench::pytorch {
namespace {

// PyTorch's callbacks are plain functions, so that the profile of a thread must be thread-local.
thread_local Profile* current_profile = nullptr;

// Marks a call that was given a frame.
struct Mark final : at::ObserverContext {};

}  // namespace

Profile::Profile() {
  Check(current_profile == nullptr, "a second profile on one thread");
  current_profile = this;
  handle_ = at::addThreadLocalCallback(
      at::RecordFunctionCallback(&Start, &End)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

Profile::~Profile() {
  at::removeCallback(handle_);
  current_profile = nullptr;
}

void Profile::BeginLayer(size_t layer) {
  if (layer <= spot_.layer) numbers_.clear();  // a new step
  spot_ = {layer, Direction::kForward};
  first_number_ = at::sequence_number::peek();
  active_ = true;
}

void Profile::EndLayer() {
  active_ = false;
  if (const uint64_t end = at::sequence_number::peek(); end > first_number_)
    numbers_[first_number_] = {end, spot_.layer};
}

void Profile::BeginUpdate() {
  spot_ = {0, Direction::kUpdate};
  active_ = true;
}

void Profile::EndUpdate() { active_ = false; }

bool Profile::FindSpot(const at::RecordFunction& function) {
  if (active_) return true;
  if (function.scope() != at::RecordScope::BACKWARD_FUNCTION || function.seqNr() < 0) return false;
  const auto number = static_cast<uint64_t>(function.seqNr());
  auto range = numbers_.upper_bound(number);
  if (range == numbers_.begin() || number >= (--range)->second.end) return false;
  spot_ = {range->second.layer, Direction::kBackward};
  return true;
}

std::unique_ptr<at::ObserverContext> Profile::Start(const at::RecordFunction& function) {
  Profile* profile = current_profile;
  if (profile == nullptr || (profile->frames_.empty() && !profile->FindSpot(function)))
    return nullptr;
  profile->frames_.push_back({function.name(), NowNs(), 0});
  return std::make_unique<Mark>();
}

void Profile::End(const at::RecordFunction&, at::ObserverContext* context) {
  Profile* profile = current_profile;
  if (profile == nullptr || context == nullptr || profile->frames_.empty()) return;
  const Frame frame = std::move(profile->frames_.back());
  profile->frames_.pop_back();
  const int64_t time_ns = NowNs() - frame.start_ns;
  if (profile->recording_)
    profile->events_.push_back({frame.name, profile->spot_, frame.start_ns, time_ns});
  Tally& tally = profile->tallies_[profile->spot_];
  tally.own_ns[frame.name] += time_ns - frame.called_ns;
  if (profile->frames_.empty()) {
    tally.time_ns += time_ns;
  } else {
    profile->frames_.back().called_ns += time_ns;
  }
}

std::vector<TraceEvent> Profile::Events(const TypedGraph& graph) const {
  const std::string thread = ThisThreadTrack();
  std::vector<TraceEvent> events;
  for (const Event& event : events_) {
    const bool update = event.spot.direction == Direction::kUpdate;
    events.push_back({thread, event.name,
                      update ? "all parameters" : graph.layers[event.spot.layer].layer.name,
                      update                                         ? "update"
                      : event.spot.direction == Direction::kBackward ? "backward"
                                                                     : "forward",
                      event.start_ns, event.time_ns});
  }
  return events;
}

std::vector<ProfileRow> Profile::Rows(const TypedGraph& graph, int64_t steps) const {
  const std::vector<Cost> costs = LayerCosts(graph);
  std::vector<ProfileRow> rows;
  for (const auto& [spot, tally] : tallies_) {
    const auto most =
        std::max_element(tally.own_ns.begin(), tally.own_ns.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    ProfileRow row{
        graph.layers[spot.layer].layer.name, "forward", most->first, steps, tally.time_ns, 0, 0};
    if (spot.direction == Direction::kForward) row.flops = costs[spot.layer].forward_flops * steps;
    if (spot.direction == Direction::kBackward) {
      row.direction = "backward";
      row.flops = costs[spot.layer].backward_flops * steps;
    } else if (spot.direction == Direction::kUpdate) {
      row.layer = "all parameters";
      row.direction = "update";
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tench::pytorch
