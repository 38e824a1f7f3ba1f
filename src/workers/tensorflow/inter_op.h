// SPDX-License-Identifier: Apache-2.0
#pragma once
// The option inter_op: the size of TensorFlow's inter-op thread pool. The tuned track selects it in
// a trial (worker/option_trial): short runs of the step that will be timed, in a session per
// candidate.

#include <string>

#include "net/graph.h"
#include "workers/tensorflow/lowering.h"
#include "workers/tensorflow/session.h"

namespace tench::tensorflow {

inline constexpr int64_t kInCaller = -1;

// "auto" is the job's threads; "caller" is kInCaller.
Result<int64_t> ParseInterOp(const std::string& text, int64_t threads);
std::string InterOpName(int64_t inter_op);

Result<int64_t> FastestInterOp(const TypedGraph& graph, const Program& program,
                               const GraphWriter& writer, SessionSettings settings,
                               const RunRequest& step);

}  // namespace tench::tensorflow
