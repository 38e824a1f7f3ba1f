// SPDX-License-Identifier: Apache-2.0
#pragma once
// One job from hello to result: drives the adapter through it and answers at every stage. Not aware
// of the command line or of exceptions, which are serve's.

#include "protocol/message.h"
#include "worker/adapter.h"
#include "worker/line_sink.h"

namespace tench {

enum class JobEnd { kComplete, kStopped };

// An error is for the caller to put into an error line.
Result<JobEnd> RunJob(const Job& job, Adapter& adapter, LineSink& answers);

}  // namespace tench
