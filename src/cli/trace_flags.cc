// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_flags.h"

#include "base/file.h"
#include "base/text.h"
#include "cli/gzip_file.h"
#include "profile/trace.h"

namespace tench {
namespace {

constexpr int64_t kMostSteps = 1000;

// "3" or "2-4".
Result<TraceRequest> ParseSteps(const std::string& text) {
  TraceRequest request;
  if (text.empty()) return request;
  const size_t dash = text.find('-');
  const Result<int64_t> first = ParseInteger(text.substr(0, dash));
  const Result<int64_t> last =
      dash == std::string::npos ? first : ParseInteger(text.substr(dash + 1));
  if (!first || !last || *first < 1 || *last < *first || *last > kMostSteps)
    return Failed("--trace-steps: '{}' is not a step or a range such as 2-4, from 1 to {}",
                  Printable(text, 60), kMostSteps);
  request.first = *first;
  request.last = *last;
  return request;
}

}  // namespace

void TraceFlags::AddTo(CLI::App& app) {
  app.add_option("--trace", file_,
                 "write the kernels of some steps to FILE.json or FILE.json.gz, for Perfetto or "
                 "chrome://tracing; implies --profile")
      ->group("Output")
      ->type_name("");
  app.add_option("--trace-steps", steps_,
                 "timed steps of the trace, counted from 1: FIRST-LAST or one step [1-3]")
      ->group("Output")
      ->type_name("");
}

Result<std::optional<TraceRequest>> TraceFlags::Request(const Budget& budget) const {
  const TraceRequest request = TENCH_TRY(ParseSteps(steps_));
  if (file_.empty()) {
    if (!steps_.empty()) return Failed("--trace-steps needs --trace FILE");
    return std::optional<TraceRequest>();
  }
  if (!file_.ends_with(".json") && !file_.ends_with(".json.gz"))
    return Failed("--trace: '{}' must end in .json or .json.gz", file_);
  const std::filesystem::path folder = std::filesystem::absolute(file_).parent_path();
  if (!std::filesystem::is_directory(folder))
    return Failed("--trace: the folder {} does not exist", folder.string());
  const int64_t sure = budget.fixed_steps > 0 ? budget.fixed_steps : budget.min_steps;
  if (budget.epochs == 0 && request.last > sure)
    return Failed("--trace-steps: step {} may not be made; the run makes {}{} timed steps",
                  request.last, budget.fixed_steps > 0 ? "" : "at least ", sure);
  return std::optional(request);
}

Status TraceFlags::Write(std::span<const TraceEvent> events, const std::string& title) const {
  const std::string text = ChromeTrace(events, title);
  return file_.ends_with(".gz") ? WriteGzipFile(file_, text) : WriteFileAtomically(file_, text);
}

}  // namespace tench
