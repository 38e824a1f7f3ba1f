// SPDX-License-Identifier: Apache-2.0
#pragma once
// The environment of a worker: a short allowlist of the user's variables, and the thread settings
// of every known runtime. Other variables are dropped: a leftover OMP_ or MKL_ variable must not
// change a measurement. The environment is stored with the run.

#include <string>
#include <utility>
#include <vector>

namespace tench {

using Environment = std::vector<std::pair<std::string, std::string>>;

// `ours` are "NAME=VALUE" texts, such as `environ`; the result is sorted by name. `cpus` are the
// CPUs of the worker, one per thread: every runtime gets their number, and TENCH_CPUS lists them.
// Without CPUs (--describe) no thread setting is made. `version` is the framework version that the
// cell names. A worker that serves several versions selects by TENCH_WORKER_VERSION; for any other
// the version in its hello is checked.
Environment WorkerEnvironment(const std::vector<std::string>& ours, const std::vector<int>& cpus,
                              const std::string& version = "");
std::vector<std::string> OwnEnvironment();

std::string EnvironmentToJson(const Environment& environment);  // {"NAME": "VALUE", …}

}  // namespace tench
