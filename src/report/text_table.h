// SPDX-License-Identifier: Apache-2.0
#pragma once
// Aligned columns of UTF-8 text, for a terminal: a header, a rule, rows. Widths are counted in
// characters, not bytes. Trailing blanks are never printed. With a width limit the flexible column
// (the last left-aligned one) is cut with "…".

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
  // Ended by a newline. `max_width` 0 = as wide as needed; `indent` blanks before every line.
  std::string Render(size_t max_width = 0, size_t indent = 0) const;

 private:
  std::vector<TextColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
  bool header_;
};

// Characters in UTF-8 text (code points; no attempt at double-width ones).
size_t TextWidth(std::string_view text);

}  // namespace tench
