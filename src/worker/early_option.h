// SPDX-License-Identifier: Apache-2.0
#pragma once
// One option of the job, looked up before the job is read in earnest: for a framework that decides
// on something while it is loaded, which `hello` already tells of. Whatever is wrong with the job
// is said when serve reads it.

#include <string>

namespace tench {

// Only a job that comes as a file can be looked into; otherwise `fallback`.
std::string EarlyOption(int argc, char** argv, const std::string& name,
                        const std::string& fallback);

}  // namespace tench
