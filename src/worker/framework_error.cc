// SPDX-License-Identifier: Apache-2.0
#include "worker/framework_error.h"

#include <algorithm>
#include <array>

namespace tench {
namespace {

// MXNet prints the trace before the message, PyTorch after it.
constexpr std::array<std::string_view, 4> kTraceLines = {"Traceback", "  [bt]", "  File",
                                                         "Stack trace"};
// PyTorch's CPU allocator throws the same type as any failed check, and MXNet returns one code for
// all failures, so only the message identifies the allocator.
constexpr std::array<std::string_view, 4> kAllocatorWords = {"DefaultCPUAllocator", "out of memory",
                                                             "bad_alloc", "allocate"};

bool IsTraceLine(std::string_view line) {
  return std::ranges::any_of(kTraceLines,
                             [&](std::string_view start) { return line.starts_with(start); });
}

}  // namespace

Error ErrorOf(std::string_view message) {
  std::string line;
  for (size_t at = 0; at < message.size() && line.empty();) {
    const size_t end = std::min(message.find('\n', at), message.size());
    const std::string_view candidate = message.substr(at, end - at);
    if (!IsTraceLine(candidate)) line = candidate;
    at = end + 1;
  }
  const bool memory = std::ranges::any_of(kAllocatorWords, [&](std::string_view word) {
    return message.find(word) != std::string_view::npos;
  });
  return {line.empty() ? "no message" : std::move(line),
          memory ? ErrorKind::kOutOfMemory : ErrorKind::kFailed};
}

}  // namespace tench
