// SPDX-License-Identifier: Apache-2.0
#pragma once
// The environment of a worker: a short list of the user's variables and the thread settings of
// every runtime that we know of. All else stays behind: an OMP_ or MKL_ variable left over in a
// shell must not change a measurement. What was given is stored with the run.

#include <string>
#include <utility>
#include <vector>

namespace tench {

using Environment = std::vector<std::pair<std::string, std::string>>;

// From "NAME=VALUE" texts (our own `environ`), sorted by name. `cpus` are those that the worker is
// bound to, one per thread: every runtime is told their number, and TENCH_CPUS lists them. None of
// that when it is empty (for
// --describe). `version` is the framework's that the cell names: a worker that serves several picks
// it by TENCH_WORKER_VERSION, any other is held to it by its hello.
Environment WorkerEnvironment(const std::vector<std::string>& ours, const std::vector<int>& cpus,
                              const std::string& version = "");
std::vector<std::string> OwnEnvironment();

std::string EnvironmentToJson(const Environment& environment);  // {"NAME": "VALUE", …}

}  // namespace tench
