// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report's charts, one function per chart. Each function adds its chart and its data sets to
// the set, or leaves the set unchanged if there is no data.
// Thread safety: pure functions.

#include "report/html/chart.h"

namespace tench {

// The data set "cells", which most charts and the full table read: one row per cell.
DataTable CellTable(const ReportData& data);

// The data set "rounds": per-image times of every counted attempt, by the number of its cell.
// Rounds count from 1.
DataTable RoundTable(const ReportData& data);

// Images per second of every worker, one panel per comparison.
void AddOverviewChart(const ReportData& data, ChartSet& set);
// Time per image and images per second against the batch size.
void AddBatchCharts(const ReportData& data, ChartSet& set);
// Speed-up over a worker, device, thread count or machine.
void AddSpeedUpCharts(const ReportData& data, ChartSet& set);
// Loss against steps or epochs.
void AddLossCharts(const ReportData& data, ChartSet& set);
// Accuracy on the test split over training time and over epochs.
void AddAccuracyCharts(const ReportData& data, ChartSet& set);
// Memory, CPUs and GPU over the time of a run.
void AddUseChart(const ReportData& data, ChartSet& set);
// Peak memory against the batch size.
void AddPeakMemoryChart(const ReportData& data, ChartSet& set);
// Forward, backward and update as parts of a train step.
void AddPhaseChart(const ReportData& data, ChartSet& set);
// Thread scaling and parallel efficiency.
void AddThreadChart(const ReportData& data, ChartSet& set);
// The distribution of step times.
void AddStepChart(const ReportData& data, ChartSet& set);
// Time per image over studies, with changes of level.
void AddTrendChart(const ReportData& data, ChartSet& set);
// Images per second against the month of a version's release, one line per framework.
void AddReleaseChart(const ReportData& data, ChartSet& set);
// The difference between two profiled workers, by kernel group and by layer.
void AddWhyCharts(const ReportData& data, ChartSet& set);
// Intensity and FLOP/s of the kernels of profiled workers, under the machine's ceilings.
void AddRooflineChart(const ReportData& data, ChartSet& set);
// Published figures beside the report's own.
void AddThenAndNowChart(const ReportData& data, ChartSet& set);

}  // namespace tench
