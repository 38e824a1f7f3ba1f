// SPDX-License-Identifier: Apache-2.0
#pragma once
// The git revision of the build. cmake/Revision.cmake generates the definition, which is linked
// only into the executable `tench`. A library that used it would not link, so a commit changes no
// library and no worker.

#include <string_view>

namespace tench {

// "0123456789ab", followed by ", dirty" if a tracked file differed; "" outside of a git work tree.
extern const std::string_view kRevision;

}  // namespace tench
