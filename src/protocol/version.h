// SPDX-License-Identifier: Apache-2.0
#pragma once
// The version check of jobs and descriptions: peers with different protocol versions must not
// interpret each other's messages.

#include "base/error.h"
#include "base/json.h"

namespace tench {

// Reads "protocol" of `fields`; an error if it is not this version. Call it before reading others.
Status CheckProtocolVersion(Fields& fields);

}  // namespace tench
