// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command line of a worker, as in docs/protocol.md.
//   tench-worker-NAME --describe     one Description as JSON on stdout, exit code 0
//   tench-worker-NAME --job FILE     executes the job; the answers are JSON lines on descriptor 3
// stdin is empty; stdout and stderr of a job are free for the framework.

namespace tench {

inline constexpr const char* kDescribeFlag = "--describe";
inline constexpr const char* kJobFlag = "--job";
inline constexpr int kAnswerFd = 3;

}  // namespace tench
