// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of the page that are text and tables: pure functions from the report's data to HTML,
// readable without a script. All stored text is escaped here.

#include <string>

#include "report/html/report_data.h"

namespace tench {

// The first screen: a tile with the answer of every network, and red tiles of failures.
std::string AnswerSection(const ReportData& data);
// All comparisons as a table: fastest, next, lead, interval, verdict.
std::string ComparisonsSection(const ReportData& data);
// The study's numbers of workers, networks, cells and runs.
std::string CountsSection(const ReportData& data);
// Latency of inference with batch 1: p50, p90, p99 of every worker; "" without such cells.
std::string LatencySection(const ReportData& data);
// Time to accuracy and the results on the test split; "" without evaluations.
std::string TrainingSection(const ReportData& data);
// The machine's facts and its noise.
std::string MachineSection(const ReportData& data);
// Parity results per worker and network.
std::string ParitySection(const ReportData& data);
// Outcomes of worker × network × data × phase.
std::string CapabilitySection(const ReportData& data);
// Published tables that no chart shows.
std::string PublishedSection();
// The phases on the clock, and how to read the numbers.
std::string MethodSection(const ReportData& data);

// Median and maximum of the cells' spreads between rounds; nullopt if no cell ran twice.
struct Spread {
  double median = 0, largest = 0;
  int64_t cells = 0;
};
std::optional<Spread> SpreadOfStudy(const ReportData& data);

}  // namespace tench
