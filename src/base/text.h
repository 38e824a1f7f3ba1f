// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text functions that several folders share: strict number parsing, spelling hints,
// human-readable sizes and durations, and the hash behind ids and fingerprints. Independent of
// the locale.
// Thread safety: pure functions.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tench {

std::vector<std::string> Split(std::string_view text, char separator);
std::string_view Trim(std::string_view text);
std::string Join(std::span<const std::string> parts, std::string_view separator);

// All of `text` must be the number; "12x", "", " 3" and overflow are errors.
Result<int64_t> ParseInteger(std::string_view text);
Result<double> ParseReal(std::string_view text);  // accepts "nan", "inf", "-inf"
// "512", "64k", "1.5GiB", "2 GB" (k/M/G/T with or without B are powers of 1024).
Result<int64_t> ParseBytes(std::string_view text);
// "90", "90s", "1.5m", "2h", "250ms": nanoseconds; a bare number is seconds.
Result<int64_t> ParseDuration(std::string_view text);

// The candidate nearest to a misspelt name, or "" if none is near.
std::string Nearest(std::string_view name, std::span<const std::string> candidates);
// "; did you mean 'lenet'?" or "".
std::string Hint(std::string_view name, std::span<const std::string> candidates);

// The position of `text` among `names`; otherwise an error "unknown WHAT 'text' (one of …)".
Result<size_t> PositionOf(std::string_view what, std::string_view text,
                          std::span<const std::string> names);

std::string HumanBytes(int64_t bytes);  // "1.5 GiB"
std::string HumanNs(double ns);         // "3.21 ms", "1.2 s", "5 min 02 s"
std::string HumanCount(double count);   // "61.0 M"

// FNV-1a, 64 bits. Stable across machines and versions of tench, because ids are stored. `before`
// is the hash of the text that precedes `text`, so that a long text can be hashed in pieces.
inline constexpr uint64_t kHashOfNothing = 0xcbf29ce484222325;
uint64_t Hash64(std::string_view text, uint64_t before = kHashOfNothing);
std::string Hex64(uint64_t value);  // 16 lower-case digits

// The text as one shell word: unchanged if it needs no quoting, otherwise single-quoted.
std::string ShellQuote(std::string_view text);
// Printable ASCII, other bytes as "\xNN", truncated to `limit` characters followed by "…".
std::string Printable(std::string_view bytes, size_t limit = 200);

}  // namespace tench
