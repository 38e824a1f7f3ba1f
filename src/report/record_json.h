// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run as JSON, whole: the cell, the outcome, the summary and, if given, every step. Units are in
// the names; what was not measured is null. For `tench run --json` and for programs that read a
// store.

#include "base/json.h"
#include "store/record.h"

namespace tench {

// The axes by their names.
void PutAxes(Json& json, const Cell& cell);
Json RecordToJson(const RunRecord& record, const RunSeries* series);

// Derived numbers, in one place so that every view agrees. nullopt where the run has no timed step.
std::optional<double> ImageNs(const RunRecord& record);
std::optional<double> ImagesPerSecond(const RunRecord& record);
std::optional<double> FlopsPerSecond(const RunRecord& record);
// The larger of the kernel's high-water mark in the steps and what was sampled from outside with
// children.
std::optional<int64_t> PeakMemoryBytes(const RunRecord& record);

}  // namespace tench
