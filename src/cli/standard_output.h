// SPDX-License-Identifier: Apache-2.0
#pragma once
// Makes stdout and stderr survive a reader that closes its end, as in `tench results | head -1`.
// From then on the stream is discarded, and the command ends with the exit code that it would have
// had: a gate whose output nobody reads to the end still fails. Other write errors, such as a full
// disk, stay errors.
//
// Thread safety: called once, from main, before any output. Replaces the variables `stdout` and
// `stderr`, which the GNU C library allows, and ignores SIGPIPE. Child processes get default
// signal handlers from Subprocess.

namespace tench {

void DiscardOutputAfterItsReaderLeaves();

}  // namespace tench
