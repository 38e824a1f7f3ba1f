// SPDX-License-Identifier: Apache-2.0
#pragma once
// The environment of a worker: a short allowlist of the user's variables, and the thread settings
// of every known runtime. Other variables are dropped: a leftover OMP_ or MKL_ variable must not
// change a measurement. The environment is stored with the run.

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "plan/worker_table.h"

namespace tench {

using Environment = std::vector<std::pair<std::string, std::string>>;

// `ours` has the form of `environ`: "NAME=VALUE" texts. The result is sorted by name. TENCH_CPUS
// lists the worker's CPUs, and every runtime gets the number of compute threads: `threads`, or one
// per CPU if that is 0. Without CPUs (--describe) no thread setting is made. `version` is the
// framework version that the cell names. A worker that serves several versions selects by
// TENCH_WORKER_VERSION; for any other worker, the version in its hello is checked. `own` are the
// variables of the job, which replace all others.
Environment WorkerEnvironment(const std::vector<std::string>& ours, const std::vector<int>& cpus,
                              const std::string& version = "",
                              const std::map<std::string, std::string>& own = {},
                              int64_t threads = 0);
std::vector<std::string> OwnEnvironment();

// The part of `ours` that decides which program and libraries a worker runs, as far as it is set:
// library and interpreter paths, visible devices, TENCH_WORKER_PATH, and the variables that begin
// with TENCH_ and the worker's name in capitals (TENCH_CAFFE, TENCH_MXNET_LIBRARY). Sorted by name.
Environment DecisiveEnvironment(const std::vector<std::string>& ours, const std::string& worker);

// The variables that install a suite's `workers` table: TENCH_CAFFE_INTEL for caffe@intel, and
// NAME=FILE elements before `worker_path`, the present TENCH_WORKER_PATH, for named executables.
// They are part of the DecisiveEnvironment, so a reproducer needs no suite.
Result<Environment> TableEnvironment(std::span<const WorkerFile> table,
                                     const std::string& worker_path);

std::string EnvironmentToJson(const Environment& environment);  // {"NAME": "VALUE", …}

}  // namespace tench
