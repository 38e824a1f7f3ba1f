// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report's charts, one function per chart. Each adds itself to the set, with the data sets that
// only it needs, or leaves the set alone where there is nothing to draw. Pure.

#include "report/html/chart.h"

namespace tench {

// The data set "cells", which most charts and the full table read: one row per cell.
DataTable CellTable(const ReportData& data);

void AddOverviewChart(const ReportData& data,
                      ChartSet& set);  // images/s of every worker, a panel per comparison
void AddBatchCharts(const ReportData& data,
                    ChartSet& set);  // time per image and images/s against the batch size
void AddSpeedUpCharts(const ReportData& data,
                      ChartSet& set);  // over a worker, device, thread count or machine
void AddLossCharts(const ReportData& data, ChartSet& set);  // loss against epochs
void AddUseChart(const ReportData& data, ChartSet& set);    // memory and CPUs over a run's time
void AddPeakMemoryChart(const ReportData& data, ChartSet& set);  // against the batch size
void AddPhaseChart(const ReportData& data, ChartSet& set);       // forward, backward, update
void AddThreadChart(const ReportData& data, ChartSet& set);      // scaling and efficiency
void AddStepChart(const ReportData& data, ChartSet& set);        // the distribution of step times
void AddThenAndNowChart(const ReportData& data, ChartSet& set);  // published figures beside these

}  // namespace tench
