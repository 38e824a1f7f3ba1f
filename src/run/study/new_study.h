// SPDX-License-Identifier: Apache-2.0
#pragma once
// Begins a study, or finds the one that a command continues. A new study's record has the machine's
// facts and peak performance, and a seed for the order of its rounds.

#include <string>

#include "machine/host.h"
#include "run/study/runner.h"
#include "run/study/study_builds.h"

namespace tench {

Result<StudyRecord> BeginStudy(Store& store, const StudyRequest& request, const HostFacts& host,
                               const WorkerBuilds& builds);

// Only the newest study of the command is resumed, so that `--study latest` shows the results of
// this command. `why_new` is the reason why it is not continued, "" if it is or there is none.
Result<StudyRecord> FindOrBeginStudy(Store& store, const StudyRequest& request,
                                     const HostFacts& host, const WorkerBuilds& builds,
                                     std::string& why_new);

}  // namespace tench
