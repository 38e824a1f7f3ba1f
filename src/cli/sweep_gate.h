// SPDX-License-Identifier: Apache-2.0
#pragma once
// The gate of `tench sweep`: after the last run, judges the stored study by --fail-on. `failed`
// looks at the study's own runs. `slower` and `ambiguous` compare the study with a baseline: cells
// of the study itself, another study, or another file; by default the previous study of the same
// suite on the same machine. A repeated command on a complete study judges it again.

#include <CLI/CLI.hpp>
#include <string>

#include "base/error.h"
#include "cli/gate_flags.h"
#include "store/store.h"

namespace tench {

class SweepGate {
 public:
  void AddTo(CLI::App& app);
  // Before the study: parses the flags.
  Status Check() const;
  // The exit code of a complete study.
  Result<int> Judge(Store& store, const std::string& database, int64_t study) const;

 private:
  Result<std::vector<Gate>> Gates(Store& store, const std::string& database, int64_t study,
                                  const FailOn& fail_on) const;

  GateFlags flags_;
  std::string baseline_, margin_ = "1%";
};

}  // namespace tench
