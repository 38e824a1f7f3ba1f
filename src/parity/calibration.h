// SPDX-License-Identifier: Apache-2.0
#pragma once
// Derives the rates and running statistics of the later trials from the reference's answer to
// kSteady. Both are the same for every worker, because the answer is. Pure.

#include "parity/answer.h"
#include "parity/trial.h"

namespace tench {

Calibration Calibrate(const Trial& steady, const Answer& answer);

}  // namespace tench
