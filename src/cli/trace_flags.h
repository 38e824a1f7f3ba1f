// SPDX-License-Identifier: Apache-2.0
#pragma once
// --trace FILE and --trace-steps: the intervals of some steps as a file that Perfetto opens.

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "protocol/message.h"
#include "record/trace_event.h"

namespace tench {

class TraceFlags {
 public:
  void AddTo(CLI::App& app);

  // nullopt without --trace; the request names no file, because a run has a folder of its own.
  // Fails before the run if the budget has too few steps or the file cannot be written.
  Result<std::optional<TraceRequest>> Request(const Budget& budget) const;
  Status Write(std::span<const TraceEvent> events, const std::string& title) const;

 private:
  std::string file_, steps_;
};

}  // namespace tench
