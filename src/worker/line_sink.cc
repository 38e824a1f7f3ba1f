// SPDX-License-Identifier: Apache-2.0
#include "worker/line_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tench {

Status LineSink::WriteLine(std::string line) {
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t put = write(fd_.get(), rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      reader_gone_ = true;
      return Failed("cannot write an answer: {}", std::strerror(errno));
    }
    rest.remove_prefix(static_cast<size_t>(put));
  }
  return Ok();
}

Result<LineSink> OpenLineSink(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0) return Failed("descriptor {} is not open", fd);
  if ((flags & O_ACCMODE) == O_RDONLY) return Failed("descriptor {} cannot be written to", fd);
  if (fd != STDOUT_FILENO && fd != STDERR_FILENO) {
    fcntl(fd, F_SETFD, FD_CLOEXEC);  // for child processes of the framework
    return LineSink(Fd(fd));
  }
  Fd own(fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!own.valid())
    return Failed("descriptor {} cannot be duplicated: {}", fd, std::strerror(errno));
  if (fd == STDOUT_FILENO) dup2(STDERR_FILENO, STDOUT_FILENO);
  return LineSink(std::move(own));
}

}  // namespace tench
