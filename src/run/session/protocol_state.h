// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a worker has said so far, and whether it may say so: hello, build, steps…, result, in this
// order; an error may come instead at any moment. Gathers the series of a run. A pure state machine
// over lines: not aware of processes, descriptors or outcomes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "protocol/message.h"
#include "store/record.h"

namespace tench {

class Conversation {
 public:
  enum class Stage { kStarting, kBuilding, kWarmingUp, kMeasuring, kDone, kFailed };

  // An error is a breach of the protocol, in words for the run's reason. What came before stays
  // valid.
  Status Take(std::string_view line);

  Stage stage() const { return stage_; }
  bool over() const { return stage_ == Stage::kDone || stage_ == Stage::kFailed; }
  const std::optional<Hello>& hello() const { return hello_; }
  const std::optional<Built>& built() const { return built_; }
  const std::optional<Done>& done() const { return done_; }
  const std::optional<Failure>& failure() const { return failure_; }
  const RunSeries& series() const { return series_; }

  // "the loss is nan at step 7", once a loss was no finite number; warm-up steps are counted, from
  // 0.
  const std::string& divergence() const { return divergence_; }
  bool negative_loss() const { return negative_loss_; }

 private:
  Status On(Hello hello);
  Status On(Built built);
  Status On(Steps steps);
  Status On(Done done);
  Status On(Failure failure);

  Stage stage_ = Stage::kStarting;
  std::optional<Hello> hello_;
  std::optional<Built> built_;
  std::optional<Done> done_;
  std::optional<Failure> failure_;
  RunSeries series_;
  std::string divergence_;
  bool negative_loss_ = false;
};

// "starting", "building", "warming up", "measuring", "ending"
std::string_view Name(Conversation::Stage stage);

}  // namespace tench
