// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "worker/serve.h"
#include "workers/caffe/adapter.h"

int main(int argc, char** argv) {
  // Caffe's files can be gigabytes. tench always removes the job's folder, even if the worker is
  // killed, so they belong there.
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (!error && access(here.c_str(), W_OK) == 0) setenv("TMPDIR", here.c_str(), 1);
  return tench::Serve(argc, argv, [] { return tench::caffe_worker::MakeCaffeAdapter(); });
}
