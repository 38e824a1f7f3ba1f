// SPDX-License-Identifier: Apache-2.0
#pragma once
// The mapping of axes into a job, one row per axis, and the parity key that is derived from the
// same rows. A timed run and the parity trials of its cell start from one mapping, so an axis
// cannot change the run without changing the trials, or saying why it need not.
//
// Invariants: row i is axis i; a missing row does not compile. Pure.

#include <span>
#include <string>

#include "axis/cell.h"
#include "protocol/message.h"

namespace tench {

enum class ParityUse {
  kKey,         // the trials obey it, and it is part of the parity key
  kIdentity,    // the worker, or the network's fingerprint, stands for it in a parity record
  kIrrelevant,  // a parity result holds for every value of it
};

struct AxisUse {
  AxisIndex axis;
  // Null where the job is filled elsewhere: worker and network are loaded, which may fail.
  void (*apply)(const Cell& cell, Job& job);
  ParityUse parity;
  const char* reason;  // why it is not part of the key; "" for kKey
};

std::span<const AxisUse> AxisUses();

// Applies every row and the cell's options. Zeros that stand for a default are left for PlanJob.
void ApplyAxes(const Cell& cell, Job& job);

// "device=cpu precision=f32 tuned=no option.layout=nchw"
std::string ParitySetting(const Cell& cell);

}  // namespace tench
