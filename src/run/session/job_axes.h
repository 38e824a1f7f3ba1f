// SPDX-License-Identifier: Apache-2.0
#pragma once
// Maps the axes to a job, one row per axis, and derives the parity key from the same rows. Timed
// runs and parity trials share the mapping, so no axis can change a run without changing its
// trials, unless its row gives a reason.
//
// Invariants: row i is axis i; a missing row does not compile. Pure.

#include <span>
#include <string>

#include "axis/cell.h"
#include "protocol/message.h"

namespace tench {

enum class ParityUse {
  kKey,         // the trials obey it, and it is part of every parity key
  kLaterKey,    // as kKey, but not at its default, so that keys of older files stay valid
  kTimedKey,    // the timed trial obeys it, and it is part of that trial's key
  kIdentity,    // the worker or the network's fingerprint represents it in a parity record
  kIrrelevant,  // a parity result holds for every value of it
};

struct AxisUse {
  AxisIndex axis;
  // Null if PlanJob fills the field: the worker and the network are loaded, which may fail, and a
  // schedule of rates depends on the number of steps.
  void (*apply)(const Cell& cell, Job& job);
  ParityUse parity;
  const char* reason;  // why the axis is not part of a key; "" for keys
};

std::span<const AxisUse> AxisUses();

// Applies every row and the cell's options. A zero that means "default" is left to PlanJob.
void ApplyAxes(const Cell& cell, Job& job);

// "rules=4 device=cpu precision=f32 option.layout=nchw env.NAME=VALUE". Other rules have other
// trials, so that a result of theirs is not reused.
std::string ParitySetting(const Cell& cell);
// "timed threads=2 batch=16 phase=train momentum=0.9 … rules=4 device=cpu …": the key of the timed
// trial.
std::string TimedSetting(const Cell& cell);

}  // namespace tench
