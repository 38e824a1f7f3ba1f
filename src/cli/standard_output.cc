// SPDX-License-Identifier: Apache-2.0
#include "cli/standard_output.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace tench {
namespace {

int output_descriptor = STDOUT_FILENO, error_descriptor = STDERR_FILENO;

// The write function of a stream; the cookie is its descriptor. stdio treats 0 as an error, with
// errno as its reason.
ssize_t WriteOrDiscard(void* cookie, const char* bytes, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t written = write(*static_cast<int*>(cookie), bytes + done, size - done);
    if (written >= 0) {
      done += static_cast<size_t>(written);
    } else if (errno == EPIPE) {
      return static_cast<ssize_t>(size);
    } else if (errno != EINTR) {
      return static_cast<ssize_t>(done);
    }
  }
  return static_cast<ssize_t>(size);
}

FILE* OpenStream(int& descriptor, int buffering) {
  cookie_io_functions_t functions = {};
  functions.write = WriteOrDiscard;
  FILE* stream = fopencookie(&descriptor, "w", functions);
  if (stream != nullptr) setvbuf(stream, nullptr, buffering, BUFSIZ);
  return stream;
}

}  // namespace

void DiscardOutputAfterItsReaderLeaves() {
  signal(SIGPIPE, SIG_IGN);
  const int buffering = isatty(STDOUT_FILENO) == 1 ? _IOLBF : _IOFBF;
  if (FILE* stream = OpenStream(output_descriptor, buffering)) stdout = stream;
  if (FILE* stream = OpenStream(error_descriptor, _IONBF)) stderr = stream;
}

}  // namespace tench
