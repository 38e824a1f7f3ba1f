// SPDX-License-Identifier: Apache-2.0
#include "worker/early_option.h"
#include "worker/serve.h"
#include "workers/tensorflow/adapter.h"

int main(int argc, char** argv) {
  tench::tensorflow::TensorFlowSettings settings;
  settings.onednn = tench::EarlyOption(argc, argv, "onednn", settings.onednn);
  return tench::Serve(argc, argv,
                      [&] { return tench::tensorflow::MakeTensorFlowAdapter(settings); });
}
