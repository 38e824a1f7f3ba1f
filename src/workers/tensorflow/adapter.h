// SPDX-License-Identifier: Apache-2.0
#pragma once
// The TensorFlow adapter: one graph, one session, one TF_SessionRun per step. The library is opened
// when the adapter is created. If that fails, Describe reports it and Build returns the same error.
// docs/workers/tensorflow.md describes the mapping of ops, options and versions.

#include <filesystem>
#include <memory>
#include <string>

#include "worker/adapter.h"

namespace tench::tensorflow {

struct TensorFlowSettings {
  // The installation; "" = TENCH_TENSORFLOW_ROOT, or the fetched one.
  std::filesystem::path root;
  // "on", "off" or "auto". TensorFlow decides while it is loaded, before a job's options are known.
  std::string onednn = "on";
};

std::unique_ptr<Adapter> MakeTensorFlowAdapter(const TensorFlowSettings& settings = {});

}  // namespace tench::tensorflow
