// SPDX-License-Identifier: Apache-2.0
#pragma once
// The native worker's side of the contract: compiles the network into a Program and runs it.
// `cache_folder` holds the tuner's file.

#include <filesystem>
#include <memory>

#include "worker/adapter.h"
#include "workers/native/conv/tuner_cache.h"

namespace tench::native {

struct NativeSettings {
  std::filesystem::path cache_folder = DefaultCacheFolder();  // empty: nothing is remembered
  int64_t forced_candidate = -1;                              // see ConvTuner::Force
  int64_t available_bytes = -1;                               // -1: ask the system
};

std::unique_ptr<Adapter> MakeNativeAdapter(const NativeSettings& settings = {});

}  // namespace tench::native
