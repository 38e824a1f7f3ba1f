// SPDX-License-Identifier: Apache-2.0
#pragma once
// Renders a ranking as CSV (RFC 4180): a header, one record per cell, CRLF line ends, fields
// quoted only where needed. The columns are those of ranking_json.h. Options are "name=value"
// joined by ';', flags are joined by blanks, missing values are empty.
// Thread safety: pure functions.

#include <string>
#include <string_view>

#include "base/json.h"
#include "report/summary.h"

namespace tench {

std::string RenderCsv(const Ranking& ranking);

// The names or the values of one flat object as one record.
std::string CsvNames(const Json& row);
std::string CsvRecord(const Json& row);

// One field, quoted if it contains a comma, a quote or a line end.
std::string CsvField(std::string_view text);

}  // namespace tench
