// SPDX-License-Identifier: Apache-2.0
#pragma once
// Imports a framework's old training log as a run: the same record and series, so that it is ranked
// and exported like any other. Facts that the log lacks (logs/caffe_facts.h has those of Caffe's)
// come from its file name, train_{network}_{mode}_{batch}.log (mode CPU or GPU, batch with leading
// zeros), or from the caller. The run has the flag `imported`, names its file, and has the version
// "imported", so that it never shares a row with a measured run. Reads one file; not aware of the
// store.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "axis/cell.h"
#include "base/error.h"
#include "logs/training_log.h"
#include "run/session/run_request.h"

namespace tench {

enum class LogFormat { kCaffe, kCaffeTime, kTensorflow, kThesis };

struct LogName {
  std::string network, mode;
  int64_t batch = 0;
};
// Parses a file name. A name of any other form is an error that shows the form above.
Result<LogName> ParseLogName(std::string_view name);

struct LogImport {
  LogFormat format = LogFormat::kCaffe;
  std::filesystem::path file;
  Cell cell;                 // complete, including worker, network, device and batch
  int64_t warmup_steps = 0;  // number of leading steps to exclude
  std::string machine, machine_id;
};

Result<RunResult> ImportLog(const LogImport& import);
// For a file of several trainings: `log` is the one that `part` names. `text` is the file's.
Result<RunResult> ImportSteps(const LogImport& import, const TrainingLog& log,
                              std::string_view text, std::string_view part);

// Equal for files with the same name and content; nullopt for a run that was not imported.
std::optional<std::string> ImportKey(const RunRecord& run);

}  // namespace tench
