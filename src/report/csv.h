// SPDX-License-Identifier: Apache-2.0
#pragma once
// A ranking as CSV after RFC 4180: a header, one record per cell, CRLF line ends, fields quoted
// only where they must be. The columns are those of ranking_json.h; options are "name=value" joined
// by ';', flags are joined by blanks, what was not measured is empty.

#include <string>
#include <string_view>

#include "report/summary.h"

namespace tench {

std::string RenderCsv(const Ranking& ranking);

// One field, quoted if it holds a comma, a quote or a line end.
std::string CsvField(std::string_view text);

}  // namespace tench
