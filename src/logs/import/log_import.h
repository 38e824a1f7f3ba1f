// SPDX-License-Identifier: Apache-2.0
#pragma once
// An old log as a run of today: same record, same series, so that it ranks and exports like one.
// What the log does not say comes from its name, train_{network}_{mode}_{batch}.log, as the 2017
// study's scripts named them (mode CPU or GPU, batch with leading zeros), or from the caller. Such
// a run has the flag `imported`, the version "imported" (so that it is never mixed into the row of
// a run of ours) and says which file it is from. Reads one file; not aware of the store.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "axis/cell.h"
#include "base/error.h"
#include "run/session/run_request.h"

namespace tench {

enum class LogFormat { kCaffe, kTensorflow };

struct LogName {
  std::string network, mode;
  int64_t batch = 0;
};
// Of the file name alone. Anything else than the form above is an error that shows the form.
Result<LogName> ParseLogName(std::string_view name);

struct LogImport {
  LogFormat format = LogFormat::kCaffe;
  std::filesystem::path file;
  Cell cell;                 // complete: worker, network, device and batch too
  int64_t warmup_steps = 0;  // how many of the first steps are not to be counted
  std::string machine, machine_id;
};

Result<RunResult> ImportLog(const LogImport& import);

// The same for the same file's name and content; nullopt for a run that was not imported.
std::optional<std::string> ImportKey(const RunRecord& run);

}  // namespace tench
