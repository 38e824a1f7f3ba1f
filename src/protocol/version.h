// SPDX-License-Identifier: Apache-2.0
#pragma once
// The check that opens every job and every description: two sides of different protocol versions
// must not guess at each other's words.

#include "base/error.h"
#include "base/json.h"

namespace tench {

// Reads "protocol" of `fields`. Fails at once, before anything else is read, when it is not ours.
Status CheckProtocolVersion(Fields& fields);

}  // namespace tench
