// SPDX-License-Identifier: Apache-2.0
#include <new>

#include "cli/program.h"
#include "cli/revision.h"

int main(int argc, char** argv) {
  try {
    return tench::RunProgram(argc, argv, tench::VersionText(TENCH_VERSION, tench::kRevision));
  } catch (const std::bad_alloc&) {
    return tench::FailProgram("out of memory");
  }
}
