// SPDX-License-Identifier: Apache-2.0
#pragma once
// Aligned columns of UTF-8 text for a terminal: header, rule, rows. Widths are counted in code
// points, not bytes. Trailing blanks are never printed. A width limit truncates the last
// left-aligned column with "…".
// Thread safety: a table belongs to one thread; Render is const.

#include <string>
#include <vector>

namespace tench {

enum class Align { kLeft, kRight };

struct TextColumn {
  std::string name;
  Align align = Align::kLeft;
};

class TextTable {
 public:
  explicit TextTable(std::vector<TextColumn> columns, bool header = true);

  void AddRow(std::vector<std::string> cells);  // as many as there are columns
  size_t rows() const { return rows_.size(); }
  // Ends with a newline. `max_width` 0 = unlimited; every line is indented by `indent` blanks.
  std::string Render(size_t max_width = 0, size_t indent = 0) const;

 private:
  std::vector<TextColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
  bool header_;
};

// Code points in UTF-8 text; double-width characters count as one.
size_t TextWidth(std::string_view text);

}  // namespace tench
