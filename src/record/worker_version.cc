// SPDX-License-Identifier: Apache-2.0
#include "record/worker_version.h"

namespace tench {
namespace {

constexpr size_t kShownDigits = 7;

}  // namespace

std::string ShortBuild(const std::string& build) { return build.substr(0, kShownDigits); }

std::string ShownVersion(const std::string& version, const std::string& build) {
  // Words, such as "not found", are no version.
  if (build.empty() || version.find(' ') != std::string::npos) return version;
  const char* separator = version.find('+') == std::string::npos ? "+" : ".";
  return version + separator + ShortBuild(build);
}

}  // namespace tench
