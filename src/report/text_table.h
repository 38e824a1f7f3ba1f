// SPDX-License-Identifier: Apache-2.0
#pragma once
// Aligned columns of UTF-8 text for a terminal: header, rule, rows. Widths are counted in code
// points, not bytes. Trailing blanks are never printed. A width limit truncates the widest
// left-aligned column with "…"; Fit leaves out whole columns before that.
// Thread safety: a table belongs to one thread; Render is const.

#include <string>
#include <string_view>
#include <vector>

namespace tench {

enum class Align { kLeft, kRight };

struct TextColumn {
  std::string name;
  Align align = Align::kLeft;
  int optional = 0;  // 0 = always shown; Fit leaves out the largest first
};

class TextTable {
 public:
  explicit TextTable(std::vector<TextColumn> columns, bool header = true);

  void AddRow(std::vector<std::string> cells);  // as many as there are columns
  size_t rows() const { return rows_.size(); }
  // Leaves out optional columns until the table is at most `max_width` wide (0 = unlimited).
  // Returns the names of the omitted columns, from left to right.
  std::vector<std::string> Fit(size_t max_width, size_t indent = 0);
  // Ends with a newline. `max_width` 0 = unlimited; every line is indented by `indent` blanks.
  std::string Render(size_t max_width = 0, size_t indent = 0) const;
  // The same, but the last column, which is left-aligned, is broken into lines instead of cut.
  std::string RenderWrapped(size_t max_width, size_t indent = 0) const;
  // A table in GitHub's Markdown.
  std::string RenderMarkdown() const;

 private:
  std::vector<size_t> Widths() const;
  std::vector<TextColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
  bool header_;
};

// Code points in UTF-8 text; double-width characters count as one.
size_t TextWidth(std::string_view text);

// Breaks text at blanks into lines of at most `width` code points (0 = no limit), the first without
// indentation, the others indented by `indent`. A longer word has a line of its own.
std::string WrapText(std::string_view text, size_t width, size_t indent);

// "omitted: GFLOP/s, loss (--wide shows all)" and a newline; "" if nothing is omitted.
std::string OmittedLine(const std::vector<std::string>& columns);

}  // namespace tench
