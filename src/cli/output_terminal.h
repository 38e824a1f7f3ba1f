// SPDX-License-Identifier: Apache-2.0
#pragma once
// The terminal behind standard output, if there is one.

#include <cstddef>

namespace tench {

// Its columns; 0 when standard output goes elsewhere, and nothing need be cut.
size_t OutputWidth();

}  // namespace tench
