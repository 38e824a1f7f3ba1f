// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs one job from hello to result: calls the adapter and writes the answers of every stage. Not
// aware of the command line or of exceptions, which serve handles.

#include "protocol/message.h"
#include "worker/adapter.h"
#include "worker/line_sink.h"

namespace tench {

enum class JobEnd { kComplete, kStopped };

// The caller writes an error as the error line.
Result<JobEnd> RunJob(const Job& job, Adapter& adapter, LineSink& answers);

}  // namespace tench
