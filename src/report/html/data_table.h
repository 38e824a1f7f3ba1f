// SPDX-License-Identifier: Apache-2.0
#pragma once
// A data set that charts share: named columns of scalars. It is written to the page by column,
// with repeated texts stored once, and to the renderer of paper figures by row, as Vega-Lite
// expects. Reals keep six significant digits, which halves the size of a page.
// Thread safety: a table belongs to one thread; const methods are pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace tench {

class DataTable {
 public:
  explicit DataTable(std::vector<std::string> columns);

  // One value per column, in column order.
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

// null for nullopt, NaN and the infinities, which charts cannot show.
Json ChartNumber(const std::optional<double>& value);

}  // namespace tench
