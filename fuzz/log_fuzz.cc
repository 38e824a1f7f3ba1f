// SPDX-License-Identifier: Apache-2.0
// Fuzzes both log parsers with arbitrary bytes. A parsed series has consistent lengths and valid
// times; an error is one line that names the file.

#include <cstdint>
#include <string_view>

#include "logs/caffe_facts.h"
#include "logs/thesis_steps.h"
#include "logs/training_log.h"

namespace {

void CheckLog(const tench::Result<tench::TrainingLog>& log) {
  if (!log.ok()) {
    tench::Check(log.error().message.starts_with("fuzz.log:"), "an error does not name the file");
    tench::Check(log.error().message.find('\n') == std::string::npos, "an error has several lines");
    return;
  }
  tench::Check(log->step_ns.size() == log->loss.size(), "a step has no time or no loss");
  tench::Check(!log->loss.empty() || log->failure != tench::TrainingLog::Failure::kNone,
               "a log without steps did not fail");
  tench::Check(log->iterations_per_entry > 0 && log->first_step >= 0 && log->wall_ns >= 0,
               "a number of the log makes no sense");
  tench::Check(log->failure_text.find('\n') == std::string::npos,
               "the reason of a failure has several lines");
  for (const int64_t step_ns : log->step_ns)
    tench::Check(step_ns >= 0, "a step took negative time");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckLog(tench::ReadCaffeLog(text, "fuzz.log"));
  CheckLog(tench::ReadTensorflowLog(text, "fuzz.log"));
  CheckLog(tench::ReadCaffeTimeLog(text, "fuzz.log"));
  tench::Check(tench::ReadCaffeFacts(text).batch >= 0, "a batch size makes no sense");
  if (const auto steps = tench::ReadThesisSteps(text, "fuzz.log"); steps.ok()) {
    for (const tench::ThesisTraining& training : *steps)
      CheckLog(tench::Result<tench::TrainingLog>(training.log));
  } else {
    CheckLog(tench::Result<tench::TrainingLog>(steps.error()));
  }
  return 0;
}
