// SPDX-License-Identifier: Apache-2.0
#pragma once
// The terminal behind standard output, if there is one.

#include <cstddef>

namespace tench {

// Its columns; 0 if standard output is no terminal, so that text is not cut.
size_t OutputWidth();

}  // namespace tench
