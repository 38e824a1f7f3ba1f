// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where PyTorch's exceptions end: a failed allocation becomes kOutOfMemory, anything else one line
// without the library's stack trace.

#include <c10/util/Exception.h>

#include "base/error.h"

namespace tench::pytorch {

Error FaultOf(const c10::Error& exception);

template <class Work>
auto Guarded(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const c10::Error& exception) {
    return FaultOf(exception);
  }
}

}  // namespace tench::pytorch
