// SPDX-License-Identifier: Apache-2.0
#pragma once
// Golden files: expected text of a test, kept under tests/golden. Expected text may have holes:
// %int% (a signed integer), %float% (a number, also nan and inf) and %any% (any characters within
// the line, also none). All else must be equal byte by byte, including line ends. With
// TENCH_UPDATE_GOLDEN=1 in the environment a check rewrites its file instead; lines that still
// match keep their holes.

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tench {

// The first line at which two texts differ.
struct GoldenMismatch {
  size_t line = 0;                              // from 1
  std::optional<std::string> expected, actual;  // nullopt: that text has ended
};

// Whether a pattern matches a whole line.
bool MatchesPattern(std::string_view pattern, std::string_view line);

std::optional<GoldenMismatch> CompareGolden(std::string_view expected, std::string_view actual);

// `actual` as the new expected text; a line that an old pattern still matches keeps the pattern.
std::string UpdateGolden(std::string_view expected, std::string_view actual);

// tests/golden/NAME.
std::filesystem::path GoldenPath(std::string_view name);

// EXPECT_TRUE(MatchesGolden("networks/lenet-mnist.txt", text)): a failure names the file and shows
// the first differing line of both.
testing::AssertionResult MatchesGolden(std::string_view name, std::string_view actual);
testing::AssertionResult MatchesGoldenFile(const std::filesystem::path& path,
                                           std::string_view actual);

}  // namespace tench
