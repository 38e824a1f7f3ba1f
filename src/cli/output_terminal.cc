// SPDX-License-Identifier: Apache-2.0
#include "cli/output_terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace tench {

size_t OutputWidth() {
  winsize size = {};
  return isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col
                                                                                    : 0;
}

}  // namespace tench
