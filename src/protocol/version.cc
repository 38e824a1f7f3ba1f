// SPDX-License-Identifier: Apache-2.0
#include "protocol/version.h"

#include <limits>

#include "protocol/message.h"

namespace tench {

Status CheckProtocolVersion(Fields& fields) {
  const int64_t theirs = fields.Integer("protocol", 0, std::numeric_limits<int>::max());
  if (fields.failed()) return fields.Finish();
  if (theirs != kProtocolVersion)
    return Failed("{}.protocol: version {} is not supported; this side has version {}",
                  fields.path(), theirs, kProtocolVersion);
  return Ok();
}

}  // namespace tench
