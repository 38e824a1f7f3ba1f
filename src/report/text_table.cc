// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

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

std::vector<size_t> TextTable::Widths() const {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns_.size(); ++c) {
    size_t width = header_ ? TextWidth(columns_[c].name) : 0;
    for (const auto& row : rows_) width = std::max(width, TextWidth(row[c]));
    widths.push_back(width);
  }
  return widths;
}

std::vector<std::string> TextTable::Fit(size_t max_width, size_t indent) {
  std::vector<bool> omitted(columns_.size(), false);
  const std::vector<size_t> widths = Widths();
  const auto total = [&] {
    size_t sum = indent;
    for (size_t c = 0; c < columns_.size(); ++c) sum += omitted[c] ? 0 : widths[c] + kGap;
    return sum - std::min(sum, kGap);
  };
  while (max_width > 0 && total() > max_width) {
    size_t least = columns_.size();
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (omitted[c] || columns_[c].optional == 0) continue;
      if (least == columns_.size() || columns_[c].optional >= columns_[least].optional) least = c;
    }
    if (least == columns_.size()) break;
    omitted[least] = true;
  }
  std::vector<std::string> names;
  for (size_t c = columns_.size(); c-- > 0;) {
    if (!omitted[c]) continue;
    names.insert(names.begin(), columns_[c].name);
    const auto at = static_cast<std::ptrdiff_t>(c);
    columns_.erase(columns_.begin() + at);
    for (auto& row : rows_) row.erase(row.begin() + at);
  }
  return names;
}

std::string TextTable::Render(size_t max_width, size_t indent) const {
  std::vector<size_t> widths = Widths();
  size_t total = indent + kGap * (columns_.size() - 1);
  for (const size_t width : widths) total += width;
  if (max_width > 0 && total > max_width) {
    size_t widest = columns_.size();
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].align != Align::kLeft) continue;
      if (widest == columns_.size() || widths[c] >= widths[widest]) widest = c;
    }
    if (widest < columns_.size()) {
      const size_t excess = total - max_width;
      size_t& width = widths[widest];
      width = width > excess + kLeastFlexible ? width - excess : std::min(width, kLeastFlexible);
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

std::string TextTable::RenderWrapped(size_t max_width, size_t indent) const {
  std::vector<size_t> widths = Widths();
  size_t before = indent;
  for (size_t c = 0; c + 1 < widths.size(); ++c) before += widths[c] + kGap;
  if (max_width == 0 || before + widths.back() <= max_width) return Render(0, indent);
  const size_t room = std::max(max_width, before + kLeastFlexible) - before;
  TextTable broken(columns_, header_);
  for (const auto& row : rows_) {
    std::vector<std::string> cells = row;
    for (const std::string& line : Split(WrapText(row.back(), room, 0), '\n')) {
      cells.back() = line;
      broken.AddRow(cells);
      std::fill(cells.begin(), cells.end(), "");
    }
  }
  return broken.Render(max_width, indent);
}

std::string TextTable::RenderMarkdown() const {
  const auto line = [&](const auto& text_of) {
    std::string out = "|";
    for (size_t c = 0; c < columns_.size(); ++c) out += fmt::format(" {} |", text_of(c));
    return out + "\n";
  };
  const auto cell = [](const std::string& text) {
    std::string out;
    for (const char c : text) {
      if (c == '|' || c == '\\') out += '\\';
      out += c;
    }
    return out;
  };
  std::string out = line([&](size_t c) { return cell(columns_[c].name); });
  out += line([&](size_t c) { return columns_[c].align == Align::kRight ? "---:" : "---"; });
  for (const auto& row : rows_) out += line([&](size_t c) { return cell(row[c]); });
  return out;
}

std::string WrapText(std::string_view text, size_t width, size_t indent) {
  if (width == 0) return std::string(text);
  std::string out;
  size_t column = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t blanks = text.find_first_not_of(' ', at);
    if (blanks == std::string_view::npos) break;
    const size_t end = std::min(text.find(' ', blanks), text.size());
    // Blanks inside a line are kept, so that aligned text stays aligned.
    const std::string_view word = text.substr(blanks, end - blanks);
    const size_t wanted = (blanks - at) + TextWidth(word);
    if (column > indent && column + wanted > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else {
      out.append(blanks - at, ' ');
      column += blanks - at;
    }
    out += word;
    column += TextWidth(word);
    at = end;
  }
  return out;
}

std::string OmittedLine(const std::vector<std::string>& columns) {
  return columns.empty() ? "" : "omitted: " + Join(columns, ", ") + " (--wide shows all)\n";
}

}  // namespace tench
