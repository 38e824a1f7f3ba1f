// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parses one line of Caffe's log. workers/caffe reads a log while Caffe writes it;
// logs/training_log reads a finished one. Both use this parser.
// Thread safety: pure functions; views point into the line.

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
    kStart,  // "Starting Optimization", "Solving NAME"
    // "Iteration N (x iter/s, Ts/D iters), loss = L": forward and backward of N are done, its
    // update is not.
    kIteration,
    // "Iteration N, loss = L": the form of older versions, and of every version's last line, which
    // is a forward pass only.
    kBareIteration,
    kRate,        // "Iteration N, lr = r": the update of N begins
    kTestBegin,   // "Iteration N, Testing net (#0)"
    kTestOutput,  // "    Test net output #k: …"
    kScore,       // `caffe test`: "Batch N, NAME = v"
    kTimed,       // `caffe time`: "Iteration: N forward-backward time: x ms."
    kFatal,       // severity F: Caffe exits
  };
  Kind kind = Kind::kOther;
  GlogTime time;
  int64_t number = 0;  // N
  double value = 0;    // L, v, r, or x in milliseconds
  // kIteration: T. It has only millisecond digits, so time stamps are more precise.
  std::optional<double> seconds;
  int64_t iterations = 1;  // kIteration: D, the display interval
  std::string_view text;   // kScore: NAME; kFatal: the message
};

// nullopt: not a log line. A line that begins like one of the kinds and does not match it is an
// error.
Result<std::optional<CaffeLine>> ParseCaffeLine(std::string_view line);

}  // namespace tench
