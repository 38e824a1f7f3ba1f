// SPDX-License-Identifier: Apache-2.0
#include "workers/torch/fault.h"

namespace tench::pytorch {

Error FaultOf(const c10::Error& exception) {
  std::string message = exception.what_without_backtrace();
  message.resize(std::min(message.find('\n'), message.size()));
  // The CPU's allocator throws the same type as any failed check; only its words tell.
  const bool memory = dynamic_cast<const c10::OutOfMemoryError*>(&exception) != nullptr ||
                      message.find("DefaultCPUAllocator") != std::string::npos;
  return {std::move(message), memory ? ErrorKind::kOutOfMemory : ErrorKind::kFailed};
}

}  // namespace tench::pytorch
