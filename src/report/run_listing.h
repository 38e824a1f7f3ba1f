// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stored runs, their steps and their samples as rows: for `tench runs`, `tench steps` and
// `tench samples`. A row is a flat JSON object in the order of the CSV columns, with the store's
// column names and exact values. The tables round and shorten.
// Thread safety: pure functions; a table belongs to one thread.

#include <string>
#include <vector>

#include "base/json.h"
#include "record/sample_series.h"
#include "report/text_table.h"
#include "stats/slice.h"
#include "store/record.h"

namespace tench {

// Every value of the run that is not part of a series.
Json RunRow(const RunRecord& run);

// "step" counts from 1 and includes the warm-up; "kind" is "warmup" or "timed". "slice" counts from
// 1 in a run in turns; it is null otherwise, and before the first slice.
std::vector<Json> StepRows(const RunSeries& series, const SliceSet& set = {});
// Times are relative to the launch of the worker. GPU values are null where no GPU was sampled.
std::vector<Json> SampleRows(const SampleSeries& samples);

// A table without rows, and the row of one run.
TextTable RunTable();
std::vector<std::string> RunCells(const RunRecord& run);
TextTable StepTable(const RunSeries& series, const SliceSet& set = {});
TextTable SampleTable(const SampleSeries& samples);

}  // namespace tench
