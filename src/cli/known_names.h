// SPDX-License-Identifier: Apache-2.0
#pragma once
// The workers, networks and data sets that exist on this machine, as plan's Catalog, which checks a
// user's names; and the folders of suites and sketches. Not aware of flags or commands.

#include <filesystem>
#include <vector>

#include "data/data_set.h"
#include "net/caffe/prototxt.h"
#include "plan/matrix.h"
#include "run/session/worker_catalog.h"

namespace tench {

// For reading a network file whose shape is open: large enough for every network of images.
inline const Shape kAnyImage = {3, 224, 224};

// Readers of network files besides tench's JSON: Caffe's prototxt, filtered by the solver's
// `state`. `sample` is the {C, H, W} of data whose shape neither the file nor a data set states.
// `notes`, unless null, gets the remarks on every file that is read, and outlives the readers.
NetworkReaders FileReaders(const CaffeState& state = {}, const Shape& sample = {},
                           std::vector<std::string>* notes = nullptr);

// The catalog checks a network's file by reading it with `readers`.
Catalog KnownNames(const WorkerCatalog& workers, const NetworkReaders& readers = FileReaders());

// Folders of NAME.yaml for `tench sweep NAME`: TENCH_SUITE_PATH, ./suites, then share/tench/suites
// of the installation.
std::vector<std::filesystem::path> SuiteFolders();

// Folders of the reference worker's sketches: TENCH_SKETCH_PATH, then share/tench/sketches of the
// installation.
std::vector<std::filesystem::path> SketchFolders();

}  // namespace tench
