// SPDX-License-Identifier: Apache-2.0
#pragma once
// The names that exist on this machine, for checking what a user typed: the bridge from workers,
// zoo and data sets to plan's Catalog, and the folders of suites.

#include <filesystem>
#include <vector>

#include "data/data_set.h"
#include "net/caffe/prototxt.h"
#include "plan/matrix.h"
#include "run/session/worker_catalog.h"

namespace tench {

// The forms of networks' files that this program reads besides tench's JSON: Caffe's prototxt, in
// the state that a solver gives.
NetworkReaders FileReaders(const CaffeState& state = {});

// A network's file that is named is read with `readers`, and so checked.
Catalog KnownNames(const WorkerCatalog& workers, const NetworkReaders& readers = FileReaders());

// Where `tench sweep NAME` looks for NAME.yaml: TENCH_SUITE_PATH, ./suites, then what came with
// tench.
std::vector<std::filesystem::path> SuiteFolders();

// Where the reference's committed answers are: TENCH_SKETCH_PATH, then what came with tench.
std::vector<std::filesystem::path> SketchFolders();

}  // namespace tench
