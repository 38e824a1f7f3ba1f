// SPDX-License-Identifier: Apache-2.0
#pragma once
// The native worker's adapter: compiles a graph to a Program (compile/) and runs it. Not aware of
// the protocol or of timing. Thread safety: one caller at a time.

#include <memory>

#include "worker/adapter.h"

namespace tench::native {

struct NativeSettings {
  int64_t forced_candidate = -1;  // see ConvTuner::Force
  int64_t available_bytes = -1;   // -1: AvailableBytes()
};

std::unique_ptr<Adapter> MakeNativeAdapter(const NativeSettings& settings = {});

}  // namespace tench::native
