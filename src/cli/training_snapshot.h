// SPDX-License-Identifier: Apache-2.0
#pragma once
// A training's snapshot in Caffe's two files, PREFIX_iter_N.caffemodel and
// PREFIX_iter_N.solverstate, from and to the raw tensors of a worker. The state is written last, so
// a state names complete weights. Both are atomic.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/caffe/solver_file.h"

namespace tench {

struct SnapshotFiles {
  std::string model, state;
};
SnapshotFiles SnapshotFilesOf(const std::string& prefix, int64_t iteration);

// `raw` holds parameters/ and state/ after `iteration` updates.
Status KeepSnapshot(const SnapshotFiles& files, int64_t iteration, const CaffeSolver& solver,
                    const CaffeNetwork& network, const std::filesystem::path& raw);

// A training that a .solverstate continues. `load` names raw files, written to `folder`, by tensor.
struct ResumedTraining {
  int64_t iteration = 0;
  std::string model;  // the .caffemodel
  std::map<std::string, std::string> load;
  std::vector<std::string> notes;
};
// The weights are those that the state names, or a file of that name beside it.
Result<ResumedTraining> ResumeTraining(const std::string& state, const CaffeSolver& solver,
                                       const CaffeNetwork& network,
                                       const std::filesystem::path& folder);

}  // namespace tench
