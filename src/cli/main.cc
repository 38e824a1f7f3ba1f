// SPDX-License-Identifier: Apache-2.0
#include <new>

#include "cli/program.h"
#include "cli/revision.h"
#include "cli/standard_output.h"

int main(int argc, char** argv) {
  tench::DiscardOutputAfterItsReaderLeaves();
  try {
    return tench::RunProgram(argc, argv, tench::VersionText(TENCH_VERSION, tench::kRevision));
  } catch (const std::bad_alloc&) {
    return tench::FailProgram("out of memory");
  }
}
