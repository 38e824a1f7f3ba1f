// SPDX-License-Identifier: Apache-2.0
#pragma once
// A data set that charts share: named columns of plain values. It goes into the page column by
// column, with repeated texts written once, and to the renderer of paper figures row by row, as
// Vega-Lite reads it. Reals keep six digits: more than any chart can show, and half the bytes.
// Pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace tench {

class DataTable {
 public:
  explicit DataTable(std::vector<std::string> columns);

  // One value per column, in their order.
  void Add(std::vector<Json> values);

  size_t size() const { return rows_; }
  const std::vector<std::string>& columns() const { return names_; }
  const Json& At(size_t row, std::string_view column) const;

  // {"n": 3, "columns": {"batch": [1, 2, 4], "series": {"texts": ["native", …], "at": [0, 1, 0]}}}.
  // A column that has the same value in every row is {"all": value}.
  Json ToColumns() const;
  // [{"batch": 1, "series": "native"}, …]: all rows, or those that have `value` in `column`.
  Json ToRows() const;
  Json ToRows(std::string_view column, const Json& value) const;

 private:
  Json Row(size_t row) const;

  std::vector<std::string> names_;
  std::vector<std::vector<Json>> values_;  // by column
  size_t rows_ = 0;
};

// null where there is none; NaN and the infinities too, as charts have no place for them.
Json ChartNumber(const std::optional<double>& value);

}  // namespace tench
