// SPDX-License-Identifier: Apache-2.0
#include "golden.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace tench {
namespace {

enum class Hole { kInt, kFloat, kAny };
constexpr std::array<std::pair<std::string_view, Hole>, 3> kHoles = {
    {{"%int%", Hole::kInt}, {"%float%", Hole::kFloat}, {"%any%", Hole::kAny}}};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsInt(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

bool IsFloat(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return ParseReal(text).ok();
}

bool Fits(Hole hole, std::string_view text) {
  switch (hole) {
    case Hole::kInt:
      return IsInt(text);
    case Hole::kFloat:
      return IsFloat(text);
    case Hole::kAny:
      return true;
  }
  return false;
}

bool UpdateAsked() {
  const char* value = std::getenv("TENCH_UPDATE_GOLDEN");
  return value != nullptr && std::string_view(value) == "1";
}

std::string Describe(const std::optional<std::string>& line) {
  return line ? fmt::format("\"{}\"", Printable(*line, 400)) : std::string("(end of text)");
}

}  // namespace

bool MatchesPattern(std::string_view pattern, std::string_view line) {
  while (!pattern.empty()) {
    for (const auto& [word, hole] : kHoles) {
      if (!pattern.starts_with(word)) continue;
      const std::string_view rest = pattern.substr(word.size());
      for (size_t length = 0; length <= line.size(); ++length) {
        if (Fits(hole, line.substr(0, length)) && MatchesPattern(rest, line.substr(length)))
          return true;
      }
      return false;
    }
    if (line.empty() || line[0] != pattern[0]) return false;
    pattern.remove_prefix(1);
    line.remove_prefix(1);
  }
  return line.empty();
}

std::optional<GoldenMismatch> CompareGolden(std::string_view expected, std::string_view actual) {
  // A text that ends in a newline has an empty last line here, so that a missing newline is a
  // difference too.
  const std::vector<std::string> patterns = Split(expected, '\n');
  const std::vector<std::string> lines = Split(actual, '\n');
  for (size_t i = 0; i < std::max(patterns.size(), lines.size()); ++i) {
    if (i < patterns.size() && i < lines.size() && MatchesPattern(patterns[i], lines[i])) continue;
    GoldenMismatch mismatch{.line = i + 1, .expected = {}, .actual = {}};
    if (i < patterns.size()) mismatch.expected = patterns[i];
    if (i < lines.size()) mismatch.actual = lines[i];
    return mismatch;
  }
  return std::nullopt;
}

std::string UpdateGolden(std::string_view expected, std::string_view actual) {
  const std::vector<std::string> patterns = Split(expected, '\n');
  std::vector<std::string> lines = Split(actual, '\n');
  // common[i][j]: length of the longest common subsequence from pattern i and line j on.
  std::vector<std::vector<size_t>> common(patterns.size() + 1,
                                          std::vector<size_t>(lines.size() + 1, 0));
  for (size_t i = patterns.size(); i-- > 0;) {
    for (size_t j = lines.size(); j-- > 0;) {
      common[i][j] = MatchesPattern(patterns[i], lines[j])
                         ? common[i + 1][j + 1] + 1
                         : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  for (size_t i = 0, j = 0; i < patterns.size() && j < lines.size();) {
    if (MatchesPattern(patterns[i], lines[j])) {
      lines[j++] = patterns[i++];
    } else {
      ++(common[i + 1][j] >= common[i][j + 1] ? i : j);
    }
  }
  return Join(lines, "\n");
}

std::filesystem::path GoldenPath(std::string_view name) {
  return std::filesystem::path(TENCH_SOURCE_DIR) / "tests" / "golden" / name;
}

testing::AssertionResult MatchesGolden(std::string_view name, std::string_view actual) {
  return MatchesGoldenFile(GoldenPath(name), actual);
}

testing::AssertionResult MatchesGoldenFile(const std::filesystem::path& path,
                                           std::string_view actual) {
  if (UpdateAsked()) {
    const std::string expected = std::filesystem::exists(path) ? *ReadFile(path) : std::string();
    std::filesystem::create_directories(path.parent_path());
    const Status written = WriteFileAtomically(path, UpdateGolden(expected, actual));
    if (!written.ok()) return testing::AssertionFailure() << written.error().message;
    return testing::AssertionSuccess();
  }
  const Result<std::string> expected = ReadFile(path);
  if (!expected.ok()) {
    return testing::AssertionFailure()
           << expected.error().message << " (TENCH_UPDATE_GOLDEN=1 writes it)";
  }
  const std::optional<GoldenMismatch> mismatch = CompareGolden(*expected, actual);
  if (!mismatch) return testing::AssertionSuccess();
  return testing::AssertionFailure() << path.string() << ":" << mismatch->line << ": differs\n"
                                     << "  expected: " << Describe(mismatch->expected) << "\n"
                                     << "  actual:   " << Describe(mismatch->actual) << "\n"
                                     << "TENCH_UPDATE_GOLDEN=1 rewrites the file";
}

}  // namespace tench
