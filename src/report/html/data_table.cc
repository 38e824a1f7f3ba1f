// SPDX-License-Identifier: Apache-2.0
#include "report/html/data_table.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

namespace tench {
namespace {

Json CompactColumn(const std::vector<Json>& values) {
  const auto differs = [&](const Json& value) { return value != values.front(); };
  if (!values.empty() && std::none_of(values.begin(), values.end(), differs))
    return {{"all", values.front()}};
  const auto is_text = [](const Json& value) { return value.is_string(); };
  if (!std::any_of(values.begin(), values.end(), is_text)) return values;
  std::unordered_map<std::string, size_t> place;
  Json texts = Json::array(), at = Json::array();
  for (const Json& value : values) {
    const auto [found, is_new] = place.emplace(PrintJson(value), texts.size());
    if (is_new) texts.push_back(value);
    at.push_back(found->second);
  }
  return {{"texts", std::move(texts)}, {"at", std::move(at)}};
}

}  // namespace

DataTable::DataTable(std::vector<std::string> columns)
    : names_(std::move(columns)), values_(names_.size()) {}

void DataTable::Add(std::vector<Json> values) {
  Check(values.size() == names_.size(), "a row of a data table has a value per column");
  for (size_t i = 0; i < values.size(); ++i) values_[i].push_back(std::move(values[i]));
  ++rows_;
}

const Json& DataTable::At(size_t row, std::string_view column) const {
  const auto found = std::find(names_.begin(), names_.end(), column);
  Check(found != names_.end() && row < rows_, "a data table has no such column or row");
  return values_[static_cast<size_t>(found - names_.begin())][row];
}

Json DataTable::ToColumns() const {
  Json columns = Json::object();
  for (size_t i = 0; i < names_.size(); ++i) columns[names_[i]] = CompactColumn(values_[i]);
  return {{"n", rows_}, {"columns", std::move(columns)}};
}

Json DataTable::Row(size_t row) const {
  Json object = Json::object();
  for (size_t i = 0; i < names_.size(); ++i) object[names_[i]] = values_[i][row];
  return object;
}

Json DataTable::ToRows() const {
  Json rows = Json::array();
  for (size_t row = 0; row < rows_; ++row) rows.push_back(Row(row));
  return rows;
}

Json DataTable::ToRows(std::string_view column, const Json& value) const {
  Json rows = Json::array();
  for (size_t row = 0; row < rows_; ++row) {
    if (At(row, column) == value) rows.push_back(Row(row));
  }
  return rows;
}

Json ChartNumber(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  const double rounded = std::strtod(fmt::format("{:.6g}", *value).c_str(), nullptr);
  // A whole number is written without its ".0".
  if (rounded == std::floor(rounded) && std::abs(rounded) < 1e15)
    return static_cast<int64_t>(rounded);
  return rounded;
}

}  // namespace tench
