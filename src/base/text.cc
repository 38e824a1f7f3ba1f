// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace tench {
namespace {

bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = Lower(c);
  return lower;
}

struct Unit {
  std::string_view name;  // lower case
  double factor;
};

// "1.5 GiB" is 1.5 times the factor of "gib", rounded to a non-negative integer.
Result<int64_t> ParseQuantity(std::string_view text, std::span<const Unit> units,
                              std::string_view what) {
  size_t end = 0;
  while (end < text.size() && (IsDigit(text[end]) || text[end] == '.')) ++end;
  const std::string unit = Lower(Trim(text.substr(end)));
  const auto row =
      std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == unit; });
  const Result<double> number = ParseReal(text.substr(0, end));
  if (!number.ok() || row == units.end() || (end < text.size() && IsSpace(text.back())))
    return Failed("'{}' is not {}", Printable(text, 60), what);
  const double value = std::round(*number * row->factor);
  // 2^63 is the first double that does not fit.
  if (value >= 9223372036854775808.0) return Failed("'{}' is too large", Printable(text, 60));
  return static_cast<int64_t>(value);
}

// Damerau-Levenshtein distance (optimal string alignment).
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::string Join(std::span<const std::string> parts, std::string_view separator) {
  std::string joined;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) joined += separator;
    joined += parts[i];
  }
  return joined;
}

Result<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc::result_out_of_range && end == text.data() + text.size())
    return Failed("'{}' does not fit in 64 bits", Printable(text, 60));
  if (code != std::errc() || end != text.data() + text.size())
    return Failed("'{}' is not an integer", Printable(text, 60));
  return value;
}

Result<double> ParseReal(std::string_view text) {
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  const std::string_view magnitude = text.starts_with('-') ? text.substr(1) : text;
  // from_chars accepts further spellings of NaN and the infinities.
  const bool numeric = !magnitude.empty() && (IsDigit(magnitude[0]) || magnitude[0] == '.');
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (numeric && code == std::errc::result_out_of_range && end == text.data() + text.size())
    return Failed("'{}' is too large or too small for a number", Printable(text, 60));
  if (!numeric || code != std::errc() || end != text.data() + text.size())
    return Failed("'{}' is not a number", Printable(text, 60));
  return value;
}

Result<int64_t> ParseBytes(std::string_view text) {
  constexpr double kKi = 1024, kMi = kKi * 1024, kGi = kMi * 1024, kTi = kGi * 1024;
  static constexpr std::array<Unit, 14> kUnits = {{{"", 1},
                                                   {"b", 1},
                                                   {"k", kKi},
                                                   {"kb", kKi},
                                                   {"kib", kKi},
                                                   {"m", kMi},
                                                   {"mb", kMi},
                                                   {"mib", kMi},
                                                   {"g", kGi},
                                                   {"gb", kGi},
                                                   {"gib", kGi},
                                                   {"t", kTi},
                                                   {"tb", kTi},
                                                   {"tib", kTi}}};
  return ParseQuantity(text, kUnits, "a size such as 512, 64k, 1.5GiB");
}

Result<int64_t> ParseDuration(std::string_view text) {
  static constexpr std::array<Unit, 8> kUnits = {{{"", 1e9},
                                                  {"ns", 1},
                                                  {"us", 1e3},
                                                  {"ms", 1e6},
                                                  {"s", 1e9},
                                                  {"m", 60e9},
                                                  {"min", 60e9},
                                                  {"h", 3600e9}}};
  return ParseQuantity(text, kUnits, "a duration such as 90, 250ms, 1.5m, 2h");
}

std::string Nearest(std::string_view name, std::span<const std::string> candidates) {
  constexpr size_t kLongestName = 64;
  if (name.empty() || name.size() > kLongestName) return "";
  const std::string wanted = Lower(name);
  const size_t limit = std::max<size_t>(1, wanted.size() / 3);
  std::string best;
  size_t best_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const size_t distance = EditDistance(wanted, Lower(candidate));
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (!best.empty() || wanted.size() < 3) return best;
  const auto longer = std::find_if(
      candidates.begin(), candidates.end(),
      [&](const std::string& candidate) { return Lower(candidate).starts_with(wanted); });
  return longer == candidates.end() ? "" : *longer;
}

std::string Hint(std::string_view name, std::span<const std::string> candidates) {
  const std::string nearest = Nearest(name, candidates);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

Result<size_t> PositionOf(std::string_view what, std::string_view text,
                          std::span<const std::string> names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  return Failed("unknown {} '{}' (one of {}){}", what, Printable(text, 60), Join(names, ", "),
                Hint(text, names));
}

std::string HumanBytes(int64_t bytes) {
  static constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB",
                                                             "TiB", "PiB", "EiB"};
  const double sign = bytes < 0 ? -1 : 1;
  double value = std::abs(static_cast<double>(bytes));
  if (value < 1024) return fmt::format("{} B", bytes);
  size_t unit = 0;
  // A value that would round to 1024 is shown in the next unit.
  for (value /= 1024; value >= 1023.5; value /= 1024) ++unit;
  return fmt::format("{:.{}f} {}", sign * value, value < 99.95 ? 1 : 0, kUnits[unit]);
}

std::string HumanNs(double ns) {
  if (!std::isfinite(ns)) return fmt::format("{}", ns);
  const double magnitude = std::abs(ns);
  if (magnitude < 999.5) return fmt::format("{:.3g} ns", ns);
  if (magnitude < 999.5e3) return fmt::format("{:.3g} µs", ns / 1e3);
  if (magnitude < 999.5e6) return fmt::format("{:.3g} ms", ns / 1e6);
  if (magnitude < 59.95e9) return fmt::format("{:.3g} s", ns / 1e9);
  const double seconds = std::round(magnitude / 1e9);
  const char* sign = ns < 0 ? "-" : "";
  if (seconds < 3600)
    return fmt::format("{}{:.0f} min {:02.0f} s", sign, std::floor(seconds / 60),
                       std::fmod(seconds, 60));
  const double minutes = std::round(magnitude / 60e9);
  return fmt::format("{}{:.0f} h {:02.0f} min", sign, std::floor(minutes / 60),
                     std::fmod(minutes, 60));
}

std::string HumanCount(double count) {
  static constexpr std::array<std::string_view, 5> kUnits = {"k", "M", "G", "T", "P"};
  if (!std::isfinite(count)) return fmt::format("{}", count);
  const double magnitude = std::abs(count);
  if (magnitude < 999.5)
    return magnitude == std::floor(magnitude) ? fmt::format("{:.0f}", count)
                                              : fmt::format("{:.3g}", count);
  double value = magnitude / 1000;
  size_t unit = 0;
  for (; value >= 999.95 && unit + 1 < kUnits.size(); value /= 1000) ++unit;
  return fmt::format("{}{:.1f} {}", count < 0 ? "-" : "", value, kUnits[unit]);
}

uint64_t Hash64(std::string_view text, uint64_t before) {
  uint64_t hash = before;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

std::string Hex64(uint64_t value) { return fmt::format("{:016x}", value); }

std::string ShellQuote(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::string Printable(std::string_view bytes, size_t limit) {
  std::string text;
  for (const char c : bytes) {
    const bool plain = c >= 0x20 && c < 0x7f;
    if (text.size() + (plain ? 1 : 4) > limit) return text + "…";
    if (plain)
      text += c;
    else
      text += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
  }
  return text;
}

}  // namespace tench
