// SPDX-License-Identifier: Apache-2.0
#include "logs/glog_line.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tench {
namespace {

constexpr int64_t kUsPerSecond = 1'000'000, kUsPerDay = 86'400 * kUsPerSecond;
constexpr int kSomeYearWithoutLeapDay = 2001;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Consumes exactly `digits` digits from the front of `text`.
std::optional<int> TakeDigits(std::string_view& text, size_t digits) {
  if (text.size() < digits ||
      !std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(digits), IsDigit))
    return {};
  int value = 0;
  std::from_chars(text.data(), text.data() + digits, value);
  text.remove_prefix(digits);
  return value;
}

bool Take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

bool TakeSpaces(std::string_view& text) {
  const size_t count = std::min(text.find_first_not_of(' '), text.size());
  text.remove_prefix(count);
  return count > 0;
}

bool TakeDate(std::string_view& text, GlogTime& time) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits != 4 && digits != 8) return false;
  if (digits == 8) time.year = *TakeDigits(text, 4);
  time.month = *TakeDigits(text, 2);
  time.day = *TakeDigits(text, 2);
  return time.month >= 1 && time.month <= 12 && time.day >= 1 && time.day <= 31;
}

bool TakeClock(std::string_view& text, GlogTime& time) {
  const auto hour = TakeDigits(text, 2);
  if (!hour || !Take(text, ':')) return false;
  const auto minute = TakeDigits(text, 2);
  if (!minute || !Take(text, ':')) return false;
  const auto second = TakeDigits(text, 2);
  if (!second || !Take(text, '.')) return false;
  const auto micros = TakeDigits(text, 6);
  if (!micros || *hour > 23 || *minute > 59 || *second > 60) return false;
  time.us_of_day = (int64_t{*hour} * 3600 + *minute * 60 + *second) * kUsPerSecond + *micros;
  return true;
}

// Days since a fixed day of the Gregorian calendar.
int64_t DayNumber(int year, int month, int day) {
  constexpr std::array<int, 12> kBefore = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  const int64_t years = year - 1;
  return years * 365 + years / 4 - years / 100 + years / 400 +
         kBefore[static_cast<size_t>(month - 1)] + (leap && month > 2 ? 1 : 0) + day;
}

}  // namespace

std::optional<GlogLine> ParseGlogLine(std::string_view line) {
  constexpr std::string_view kSeverities = "IWEF";
  if (line.empty() || kSeverities.find(line[0]) == std::string_view::npos) return {};
  GlogLine parsed;
  parsed.severity = line[0];
  std::string_view rest = line.substr(1);
  if (!TakeDate(rest, parsed.time) || !TakeSpaces(rest) || !TakeClock(rest, parsed.time) ||
      !TakeSpaces(rest))
    return {};
  const size_t thread_digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (thread_digits == 0) return {};
  rest.remove_prefix(thread_digits);
  if (!TakeSpaces(rest)) return {};
  const size_t bracket = rest.find("] ");
  const bool bare = bracket == std::string_view::npos && rest.ends_with(']');  // empty message
  if (bracket == std::string_view::npos && !bare) return {};
  parsed.source = rest.substr(0, bare ? rest.size() - 1 : bracket);
  if (parsed.source.find(' ') != std::string_view::npos) return {};
  parsed.message = bare ? std::string_view() : rest.substr(bracket + 2);
  return parsed;
}

int64_t ElapsedUs(const GlogTime& from, const GlogTime& to) {
  const bool years = from.year > 0 && to.year > 0;
  const int first = years ? from.year : kSomeYearWithoutLeapDay;
  const int last = years ? to.year : first + (to.month < from.month ? 1 : 0);
  const int64_t days = DayNumber(last, to.month, to.day) - DayNumber(first, from.month, from.day);
  return days * kUsPerDay + to.us_of_day - from.us_of_day;
}

}  // namespace tench
