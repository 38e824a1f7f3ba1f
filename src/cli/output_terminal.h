// SPDX-License-Identifier: Apache-2.0
#pragma once
// The terminal of standard output, if there is one.

#include <cstddef>

namespace tench {

// Its columns; 0 if standard output is not a terminal, so that text is not truncated.
size_t OutputWidth();

}  // namespace tench
