// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Caffe adapter drives the user's own `caffe` program: networks, weights and batches are input
// files; results are files and log lines. The program is searched for when the adapter is created;
// if there is none, Build says what to install.

#include <memory>

#include "worker/adapter.h"

namespace tench::caffe_worker {

std::unique_ptr<Adapter> MakeCaffeAdapter();

}  // namespace tench::caffe_worker
