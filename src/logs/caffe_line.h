// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one line of Caffe's log says, as far as anybody here asks. Whoever reads a log while Caffe
// writes it (workers/caffe) and whoever reads an old one (logs/training_log) read it by this. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "logs/glog_line.h"

namespace tench {

struct CaffeLine {
  enum class Kind {
    kOther,
    kStart,      // "Starting Optimization", "Solving NAME"
    kIteration,  // "Iteration N (x iter/s, Ts/D iters), loss = L": forward and backward of N are
                 // done, its update is not
    kBareIteration,  // "Iteration N, loss = L": older versions' form of it, and everyone's last
                     // line, which is a forward pass only
    kRate,           // "Iteration N, lr = r": the update of N begins
    kTestBegin,      // "Iteration N, Testing net (#0)"
    kTestOutput,     // "    Test net output #k: …"
    kScore,          // `caffe test`: "Batch N, NAME = v"
    kTimed,          // `caffe time`: "Iteration: N forward-backward time: x ms."
    kFatal,          // severity F: Caffe ends here
  };
  Kind kind = Kind::kOther;
  GlogTime time;
  int64_t number = 0;  // N
  double value = 0;    // L, v, r, or x in milliseconds
  std::optional<double>
      seconds;  // kIteration: T; with one digit per millisecond, so the time stamps know better
  int64_t iterations = 1;  // kIteration: D, the display interval
  std::string_view text;   // kScore: NAME; kFatal: the message
};

// nullopt: no line of a log. An error is a line that begins like one of the above and goes on
// otherwise.
Result<std::optional<CaffeLine>> ParseCaffeLine(std::string_view line);

}  // namespace tench
