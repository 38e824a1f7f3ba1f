// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads one option of a job before the job is parsed, for a framework that reads the setting while
// its library is loaded. Errors in the job are ignored here: serve reports them when it parses the
// job. Stateless.

#include <string>

namespace tench {

// `fallback` if the job is not a file or does not set the option.
std::string EarlyOption(int argc, char** argv, const std::string& name,
                        const std::string& fallback);

}  // namespace tench
