// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a job's real data for a worker in another language, with the readers of the C++ workers. A
// separate process: the codecs and threads of the readers then never meet the framework's.
//
//   worker   the job as one line of JSON, then one step number per line
//   server   one line per line of the worker: {} or {"error": "..."}, after which it ends; with
//            "kind": "unsupported" where that is the outcome.
//            Each {} for a step is followed by the values of every input layer, in the order of the
//            network without gaps: float32 or int32, as in the protocol's tensor files
//
// A job with `evaluation` is answered by {"batches": N, "logits": LAYER} of the test split; LAYER
// is
// "" without a softmax loss. Each evaluation is then, between two steps:
//
//   worker   "test I" per batch I from 0 to N - 1: {} and the inputs of the inference network; then
//            "score LOSS" with the loss of that batch, followed by LAYER's output: float32
//   server   {} per "score". After the last: samples, loss, top1 and top5 of the protocol's
//            `evaluation` instead
//
// Not aware of the protocol's messages. Used by one thread; the job's threads decode.

#include <istream>

#include "base/file.h"

namespace tench {

// Serves until `requests` ends. Fails with an error that the server has sent, or if the worker has
// closed its end of `answers`.
Status ServeBatches(std::istream& requests, const Fd& answers);

}  // namespace tench
