// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small text work that several folders need: strict numbers, spelling hints, sizes and durations
// for people, and the hash behind ids and fingerprints. Pure functions; no locale is ever
// consulted.

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

// The whole of `text` must be the number; "12x", "" and " 3" are errors, and so is what does not
// fit.
Result<int64_t> ParseInteger(std::string_view text);
Result<double> ParseReal(std::string_view text);  // accepts "nan", "inf", "-inf"
// "512", "64k", "1.5GiB", "2 GB" (k/M/G/T with or without B are powers of 1024, as memory is
// counted).
Result<int64_t> ParseBytes(std::string_view text);
// "90", "90s", "1.5m", "2h", "250ms": nanoseconds; a bare number is seconds.
Result<int64_t> ParseDuration(std::string_view text);

// The candidate that a mistyped name most likely meant, or "" if none is near.
std::string Nearest(std::string_view name, std::span<const std::string> candidates);
// "; did you mean 'lenet'?" or "".
std::string Hint(std::string_view name, std::span<const std::string> candidates);

// The position of `text` among `names`; otherwise an error "unknown WHAT 'text' (one of …)".
Result<size_t> PositionOf(std::string_view what, std::string_view text,
                          std::span<const std::string> names);

std::string HumanBytes(int64_t bytes);  // "1.5 GiB"
std::string HumanNs(double ns);         // "3.21 ms", "1.2 s", "5 min 02 s"
std::string HumanCount(double count);   // "61.0 M"

// FNV-1a, 64 bits: the same on every machine and in every version of tench.
uint64_t Hash64(std::string_view text);
std::string Hex64(uint64_t value);  // 16 lower-case digits

// Text as one shell word: unchanged when it is plain, otherwise single-quoted.
std::string ShellQuote(std::string_view text);
// Only printable ASCII survives; other bytes become "\xNN"; at most `limit` characters of it, then
// "…".
std::string Printable(std::string_view bytes, size_t limit = 200);

}  // namespace tench
