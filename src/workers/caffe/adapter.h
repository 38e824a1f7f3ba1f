// SPDX-License-Identifier: Apache-2.0
#pragma once
// Caffe, as the user's own `caffe` program: every network, weight and batch goes in as a file, what
// it computes comes back as files and log lines. The program is looked for when the adapter is
// made; where there is none, Build says what to install.

#include <memory>

#include "worker/adapter.h"

namespace tench::caffe_worker {

std::unique_ptr<Adapter> MakeCaffeAdapter();

}  // namespace tench::caffe_worker
