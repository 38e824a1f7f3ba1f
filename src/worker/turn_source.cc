// SPDX-License-Identifier: Apache-2.0
#include "worker/turn_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"

namespace tench {
namespace {

// A signal between the test of the token and the wait would otherwise stay unseen.
constexpr int64_t kLookNs = 100'000'000;

}  // namespace

Result<std::optional<Turn>> TurnSource::Next() {
  while (!stop_.stop_requested()) {
    const ChannelRead read = channel_.Next(NowNs() + kLookNs);
    switch (read.kind) {
      case ChannelRead::Kind::kNothing:
        break;
      case ChannelRead::Kind::kLine:
        return std::optional(TENCH_TRY(ParseTurn(read.text).In("standard input")));
      case ChannelRead::Kind::kEnd:
        return std::optional<Turn>();
      case ChannelRead::Kind::kHalfLine:
      case ChannelRead::Kind::kTooLong:
        return Failed("standard input: a turn is one line of at most {} bytes", kMaxLineBytes);
    }
  }
  return std::optional<Turn>();
}

Result<Fd> TakeStandardInput() {
  Fd own(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const Fd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!own.valid() || !null.valid() || dup2(null.get(), STDIN_FILENO) < 0)
    return Failed("standard input cannot be read: {}", std::strerror(errno));
  return own;
}

}  // namespace tench
