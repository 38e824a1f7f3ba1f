// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"

namespace tench {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kLeastFlexible = 8;

std::string Cut(const std::string& text, size_t width) {
  if (TextWidth(text) <= width) return text;
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((text[i] & 0xC0) == 0x80) continue;
    if (++count == width) return text.substr(0, i) + "…";
  }
  return text;
}

}  // namespace

size_t TextWidth(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

TextTable::TextTable(std::vector<TextColumn> columns, bool header)
    : columns_(std::move(columns)), header_(header) {}

void TextTable::AddRow(std::vector<std::string> cells) {
  Check(cells.size() == columns_.size(), "a table row has as many cells as the table has columns");
  rows_.push_back(std::move(cells));
}

std::string TextTable::Render(size_t max_width, size_t indent) const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns_.size(); ++c) {
    size_t width = header_ ? TextWidth(columns_[c].name) : 0;
    for (const auto& row : rows_) width = std::max(width, TextWidth(row[c]));
    widths.push_back(width);
  }
  size_t total = indent + kGap * (columns_.size() - 1);
  for (const size_t width : widths) total += width;
  if (max_width > 0 && total > max_width) {
    for (size_t c = columns_.size(); c-- > 0;) {
      if (columns_[c].align != Align::kLeft) continue;
      const size_t excess = total - max_width;
      widths[c] = widths[c] > excess + kLeastFlexible ? widths[c] - excess
                                                      : std::min(widths[c], kLeastFlexible);
      break;
    }
  }

  std::string out;
  const auto append = [&](const auto& text_of) {
    std::string line(indent, ' ');
    for (size_t c = 0; c < columns_.size(); ++c) {
      const std::string text = Cut(text_of(c), widths[c]);
      const std::string blanks(widths[c] - TextWidth(text), ' ');
      if (c > 0) line.append(kGap, ' ');
      line += columns_[c].align == Align::kRight ? blanks + text : text + blanks;
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  };
  if (header_) {
    append([&](size_t c) { return columns_[c].name; });
    append([&](size_t c) {
      std::string rule;
      for (size_t i = 0; i < widths[c]; ++i) rule += "─";
      return rule;
    });
  }
  for (const auto& row : rows_) append([&](size_t c) { return row[c]; });
  return out;
}

}  // namespace tench
