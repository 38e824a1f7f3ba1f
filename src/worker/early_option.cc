// SPDX-License-Identifier: Apache-2.0
#include "worker/early_option.h"

#include <string_view>

#include "base/file.h"
#include "base/json.h"
#include "protocol/command_line.h"

namespace tench {

std::string EarlyOption(int argc, char** argv, const std::string& name,
                        const std::string& fallback) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) != kJobFlag || std::string_view(argv[i + 1]) == "-") continue;
    const Result<std::string> text = ReadFile(argv[i + 1]);
    if (!text.ok()) return fallback;
    const Result<Json> job = ParseJson(*text, "job");
    if (!job.ok() || !job->is_object()) return fallback;
    const auto options = job->find("options");
    if (options == job->end() || !options->is_object()) return fallback;
    const auto choice = options->find(name);
    return choice != options->end() && choice->is_string() ? choice->get<std::string>() : fallback;
  }
  return fallback;
}

}  // namespace tench
