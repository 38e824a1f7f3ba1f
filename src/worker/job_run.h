// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs one job from hello to result: calls the adapter and writes the answers of every stage. Not
// aware of the command line or of exceptions, which serve handles.

#include "protocol/message.h"
#include "worker/adapter.h"
#include "worker/line_sink.h"

namespace tench {

enum class JobEnd { kComplete, kStopped };

// The caller writes an error as the error line. `make` makes a second adapter for evaluations,
// which lives until RunJob returns.
using AdapterMaker = std::function<std::unique_ptr<Adapter>()>;
Result<JobEnd> RunJob(const Job& job, Adapter& adapter, const AdapterMaker& make,
                      LineSink& answers);

}  // namespace tench
