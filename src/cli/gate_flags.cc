// SPDX-License-Identifier: Apache-2.0
#include "cli/gate_flags.h"

#include <filesystem>

#include "base/file.h"
#include "cli/exit_code.h"
#include "report/github_annotations.h"
#include "report/junit.h"

namespace tench {

void GateFlags::AddTo(CLI::App& app, const std::string& fallback) {
  fail_on_ = fallback;
  option_ = app.add_option("--fail-on", fail_on_,
                           fmt::format("findings that change the exit code: any of slower, failed, "
                                       "ambiguous; or none [{}]",
                                       fallback))
                ->group("Gate")
                ->type_name("");
  app.add_option("--junit", junit_, "write the findings to this file as JUnit XML")
      ->group("Gate")
      ->type_name("");
  app.add_flag("--github", github_, "print the findings as annotations of a GitHub workflow")
      ->group("Gate");
}

Result<FailOn> GateFlags::Findings() const { return ParseFailOn(fail_on_).In("--fail-on"); }

Status GateFlags::CheckOutput() const {
  if (junit_.empty()) return Ok();
  std::error_code error;
  const std::filesystem::path file = junit_;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, error))
    return Failed("--junit: there is no folder {}", folder.string());
  if (std::filesystem::is_directory(file, error))
    return Failed("--junit: {} is a folder", file.string());
  return Ok();
}

Result<int> GateFlags::Conclude(std::span<const Gate> gates, const FailOn& fail_on) const {
  if (!junit_.empty())
    TENCH_TRY(WriteFileAtomically(junit_, RenderJunit(gates, fail_on)).In("--junit"));
  if (github_) {
    std::fflush(stdout);
    fmt::print(stderr, "{}", RenderAnnotations(gates, fail_on));
  }
  const std::optional<GateFinding> worst = WorstFinding(gates, fail_on);
  if (!worst) return kExitOk;
  switch (*worst) {
    case GateFinding::kFailed:
      return kExitFailedRuns;
    case GateFinding::kSlower:
      return kExitNegative;
    case GateFinding::kAmbiguous:
      return kExitAmbiguous;
  }
  return kExitOk;
}

}  // namespace tench
