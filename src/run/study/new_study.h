// SPDX-License-Identifier: Apache-2.0
#pragma once
// Begins a study: stores its record with the machine's facts and peak performance, and a seed for
// the order of its rounds.

#include "machine/host.h"
#include "run/study/runner.h"

namespace tench {

Result<StudyRecord> BeginStudy(Store& store, const StudyRequest& request, const HostFacts& host,
                               const WorkerBuilds& builds);

}  // namespace tench
