// SPDX-License-Identifier: Apache-2.0
#pragma once
// The .caffemodel files of a run. Trained parameters and running statistics share one file but are
// read and written separately. One tensor at a time is in memory.

#include <filesystem>

#include "net/caffe/blob_place.h"
#include "worker/adapter.h"

namespace tench::caffe_worker {

CaffeNames NamesOf(const TypedGraph& graph);

Status WriteWeights(const std::filesystem::path& path, const TypedGraph& graph,
                    const TensorSource& trained, const TensorSource& statistics);
// Writes statistics from `source` and all other blobs from the file `trained`; `path` may be that
// file.
Status ReplaceStatistics(const std::filesystem::path& path, const std::filesystem::path& trained,
                         const TypedGraph& graph, const TensorSource& source);
// Reads the trained parameters, or the others if `trained` is false.
Status ReadWeights(const std::filesystem::path& path, const TypedGraph& graph, bool trained,
                   const TensorSink& sink);

}  // namespace tench::caffe_worker
