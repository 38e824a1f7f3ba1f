// SPDX-License-Identifier: Apache-2.0
#pragma once
// The worker's side of the protocol as a state machine: hello, build, steps…, result, in this
// order; an error may replace any of them. In a job in turns, steps come in slices. Input: lines,
// in order. Output: the messages and the series of the run. Not aware of processes, descriptors or
// outcomes.
//
// Invariants: a refused line changes nothing; no line is accepted after the result or the error.
// Thread safety: none.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "protocol/message.h"
#include "store/record.h"

namespace tench {

class ProtocolState {
 public:
  enum class Stage { kStarting, kBuilding, kWarmingUp, kMeasuring, kDone, kFailed };

  // The job is in turns; call it before the first line. Go before each slice, EndTurns after the
  // last.
  void ExpectTurns() { turns_ = true; }
  void Go(const Turn& turn);
  void EndTurns() { waiting_ = false; }
  bool waiting() const { return waiting_; }
  const std::vector<Turn>& slices() const { return slices_; }  // complete ones

  // Returns the accepted message. An error is a protocol violation, worded for the run's reason.
  Result<Message> Take(std::string_view line);

  Stage stage() const { return stage_; }
  bool over() const { return stage_ == Stage::kDone || stage_ == Stage::kFailed; }
  const std::optional<Hello>& hello() const { return hello_; }
  const std::optional<Built>& built() const { return built_; }
  const std::optional<Done>& done() const { return done_; }
  const std::optional<Failure>& failure() const { return failure_; }
  const RunSeries& series() const { return series_; }

  // "the loss is nan at step 7" after the first loss that is not finite. Steps count from 0 and
  // include warm-up.
  const std::string& divergence() const { return divergence_; }
  bool negative_loss() const { return negative_loss_; }
  // With train_ns: the steps and input times before them.
  const std::vector<Evaluation>& evaluations() const { return evaluations_; }
  int64_t compilations() const { return compilations_; }  // during the timed steps

 private:
  Status On(const Hello& hello);
  Status On(const Built& built);
  Status On(const Steps& steps);
  Status CheckTurn(const Steps& steps) const;
  Status On(const Ready&);
  Status On(const Evaluation& evaluation);
  Status On(const Done& done);
  Status On(const Failure& failure);

  Stage stage_ = Stage::kStarting;
  std::optional<Hello> hello_;
  std::optional<Built> built_;
  std::optional<Done> done_;
  std::optional<Failure> failure_;
  RunSeries series_;
  bool turns_ = false, waiting_ = false;
  std::optional<Turn> turn_;  // under way
  Turn before_;               // the number of steps before it
  std::vector<Turn> slices_;
  std::string divergence_;
  bool negative_loss_ = false;
  std::vector<Evaluation> evaluations_;
  int64_t train_ns_ = 0;  // of all steps so far, with their input times
  int64_t compilations_ = 0;
};

// "starting", "building", "warming up", "measuring", "ending"
std::string_view Name(ProtocolState::Stage stage);

}  // namespace tench
