// SPDX-License-Identifier: Apache-2.0
#include "report/csv.h"

#include "base/json.h"
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
    text += value.is_object() ? name + "=" + part.get<std::string>() : part.get<std::string>();
  }
  return text;
}

void AppendRecord(std::string& out, const Json& row, bool names) {
  bool first = true;
  for (const auto& [name, value] : row.items()) {
    if (!std::exchange(first, false)) out += ',';
    out += CsvField(names ? name : FieldText(value));
  }
  out += kLineEnd;
}

}  // namespace

std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

std::string RenderCsv(const Ranking& ranking) {
  std::string out;
  // A ranking without rows has the same header.
  AppendRecord(out, RowToJson(Ranking{}, RankGroup{}, RankRow{}), true);
  for (const RankGroup& group : ranking.groups) {
    for (const RankRow& row : group.rows) AppendRecord(out, RowToJson(ranking, group, row), false);
  }
  return out;
}

}  // namespace tench
