// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of the page that are text and tables: each a pure function from the report's data to
// HTML, readable without any script. All stored text is escaped here.

#include <string>

#include "report/html/report_data.h"

namespace tench {

std::string HeadlineSection(
    const ReportData& data);  // who wins, in a sentence; the study in a few numbers
std::string WinnersSection(
    const ReportData& data);  // per comparison: winner, runner-up, margin, verdict
std::string MachineSection(const ReportData& data);     // its facts, and how steady it was
std::string ParitySection(const ReportData& data);      // who computes what the reference computes
std::string CapabilitySection(const ReportData& data);  // worker × network × data × phase
std::string PublishedSection();  // the tables of the earlier studies that no chart shows
std::string MethodSection(const ReportData& data);  // what is on the clock

// The median of the cells' spreads between rounds, and the largest; nullopt where nothing was
// repeated.
struct Spread {
  double median = 0, largest = 0;
  int64_t cells = 0;
};
std::optional<Spread> SpreadOfStudy(const ReportData& data);

}  // namespace tench
