// SPDX-License-Identifier: Apache-2.0
#pragma once
// The names of run flags: remarks on a run that its outcome does not express. The store keeps them
// as text, so a name never changes its meaning. Not aware of when a flag is set; see
// run/session/run_recorder.h for runs and logs/import for imported logs.

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace tench {

inline constexpr const char* kFlagUnconverged = "unconverged";  // the stop rule was not satisfied
inline constexpr const char* kFlagNegativeLoss = "negative_loss";
inline constexpr const char* kFlagSwapped = "swapped";
inline constexpr const char* kFlagThreadsExceeded = "threads_exceeded";  // CPU time over wall time
inline constexpr const char* kFlagUncleanExit = "unclean_exit";          // after its result
inline constexpr const char* kFlagVerified = "verified";                 // parity passed
inline constexpr const char* kFlagUnverified = "unverified";             // parity was not checked
inline constexpr const char* kFlagSkipped = "skipped";  // a smaller batch ran out of memory
inline constexpr const char* kFlagImported = "imported";
// Phase gradient: the worker does not confirm that every step writes every gradient to memory.
inline constexpr const char* kFlagGradientsNotMaterialized = "gradients_not_materialized";
// The worker compiled code during the timed steps (XLA, a JIT compiler).
inline constexpr const char* kFlagRecompiled = "recompiled";
// Its steps were slowed by measuring every kernel: such a run is never ranked.
inline constexpr const char* kFlagProfiled = "profiled";
// Axis `isa`: a library used wider instructions than the limit, or none reported what it used.
inline constexpr const char* kFlagIsaExceeded = "isa_exceeded";
inline constexpr const char* kFlagIsaUnverified = "isa_unverified";
inline constexpr const char* kFlagDisturbed = "disturbed";  // stats/noise.h

inline bool HasFlag(std::span<const std::string> flags, std::string_view flag) {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

}  // namespace tench
