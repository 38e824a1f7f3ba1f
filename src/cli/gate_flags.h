// SPDX-License-Identifier: Apache-2.0
#pragma once
// The flags that turn a command into a CI gate: which findings fail it, a JUnit file, and GitHub
// annotations. Annotations go to stderr, which GitHub reads as well, so that stdout stays a table
// or JSON.

#include <CLI/CLI.hpp>
#include <span>
#include <string>

#include "base/error.h"
#include "report/gate.h"

namespace tench {

class GateFlags {
 public:
  // `fallback` is the value of --fail-on unless the user gives one.
  void AddTo(CLI::App& app, const std::string& fallback);

  Result<FailOn> Findings() const;
  // Before long work: fails if the JUnit file could not be written later.
  Status CheckOutput() const;
  // Writes the JUnit file and the annotations, and returns the exit code.
  Result<int> Conclude(std::span<const Gate> gates, const FailOn& fail_on) const;
  // Whether the user asked for any gate.
  bool given() const {
    return option_ != nullptr && (option_->count() > 0 || !junit_.empty() || github_);
  }

 private:
  const CLI::Option* option_ = nullptr;
  std::string fail_on_, junit_;
  bool github_ = false;
};

}  // namespace tench
