// SPDX-License-Identifier: Apache-2.0
#pragma once
// Renders a run as JSON: the cell, the outcome, the summary and, if given, every step. Units are
// part of the names; missing values are null. `tench run --json` prints it.
// Thread safety: pure functions.

#include "base/json.h"
#include "store/record.h"

namespace tench {

// Adds one key per axis.
void PutAxes(Json& json, const Cell& cell);
Json RecordToJson(const RunRecord& record, const RunSeries* series);

// Derived numbers, shared by all renderers. nullopt if the run has no timed step.
std::optional<double> ImageNs(const RunRecord& record);
std::optional<double> ImagesPerSecond(const RunRecord& record);
std::optional<double> FlopsPerSecond(const RunRecord& record);
// The maximum of the kernel's high-water mark in the steps and the sampled resident set of the
// process tree.
std::optional<int64_t> PeakMemoryBytes(const RunRecord& record);

}  // namespace tench
