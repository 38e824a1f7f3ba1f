// SPDX-License-Identifier: Apache-2.0
#include "report/csv.h"

#include "report/ranking_json.h"

namespace tench {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

std::string FieldText(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object() && !value.is_array()) return value.dump();
  std::string text;
  for (const auto& [name, part] : value.items()) {
    if (!text.empty()) text += value.is_object() ? ';' : ' ';
    const std::string printed = part.is_string() ? part.get<std::string>() : part.dump();
    text += value.is_object() ? name + "=" + printed : printed;
  }
  return text;
}

std::string Record(const Json& row, bool names) {
  std::string out;
  bool first = true;
  for (const auto& [name, value] : row.items()) {
    if (!std::exchange(first, false)) out += ',';
    out += CsvField(names ? name : FieldText(value));
  }
  out += kLineEnd;
  return out;
}

}  // namespace

std::string CsvNames(const Json& row) { return Record(row, true); }
std::string CsvRecord(const Json& row) { return Record(row, false); }

std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

std::string RenderCsv(const Ranking& ranking) {
  // A ranking without rows has the same header.
  std::string out = CsvNames(RowToJson(Ranking{}, RankGroup{}, RankRow{}));
  for (const RankGroup& group : ranking.groups) {
    for (const RankRow& row : group.rows) out += CsvRecord(RowToJson(ranking, group, row));
  }
  return out;
}

}  // namespace tench
