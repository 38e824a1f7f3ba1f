// SPDX-License-Identifier: Apache-2.0
#pragma once
// The contents of the local page: the report of a study (report/html) with a live part on top.
// Reads the results file, which it opens read-only, and the progress file of a running sweep
// (store/live_progress.h). Not aware of HTTP.
//
// What a request costs is bounded, because the machine may be measuring: the progress file is a few
// kilobytes, and all else is computed only after the results file has changed, and for a small
// share of the time.
//
// Thread safety: all members may be called from several threads; a mutex serializes them.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "report/run_selector.h"

namespace tench {

struct LiveReportOptions {
  std::filesystem::path database;
  std::optional<int64_t> study;  // nullopt = the newest, also one that begins later
  RunSelector only;
  bool all_roles = false;
  std::string title = "tench";
  std::string charts_script;  // the content of vega.js; empty = no charts
  // After the runs were read, they are not read again for this multiple of the time it took.
  int64_t rest_factor = 20;
};

class LiveReport {
 public:
  // Fails if the file is missing or is no results file, or lacks the study.
  static Result<std::unique_ptr<LiveReport>> Open(LiveReportOptions options);
  ~LiveReport();

  // The page as HTML.
  Result<std::string> Page();
  // The state of the study and of its present run, as JSON. It holds the `version` of the stored
  // runs.
  Result<std::string> State();
  // The texts of the summary and the ranking as they are now, as JSON: the version, and HTML by the
  // id of the element that holds it.
  Result<std::string> Summary();

 private:
  class Impl;
  explicit LiveReport(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tench
