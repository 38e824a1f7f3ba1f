// SPDX-License-Identifier: Apache-2.0
#pragma once
// TensorFlow behind the contract: one graph, one session, one TF_SessionRun per step. The library
// is opened when the adapter is made; where that fails Describe says so and Build refuses with the
// same line. docs/workers/tensorflow.md tells how ops, options and versions map.

#include <filesystem>
#include <memory>
#include <string>

#include "worker/adapter.h"

namespace tench::tensorflow {

struct TensorFlowSettings {
  std::filesystem::path root;  // of the installation; "" = what the environment names
                               // (TENCH_TENSORFLOW_ROOT), or the fetched one
  std::string onednn = "on";   // "on", "off" or "auto": TensorFlow decides while it is loaded,
                               // before a job's options are known
};

std::unique_ptr<Adapter> MakeTensorFlowAdapter(const TensorFlowSettings& settings = {});

}  // namespace tench::tensorflow
