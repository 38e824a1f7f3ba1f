// SPDX-License-Identifier: Apache-2.0
#pragma once
// The working folder of `caffe` for one run, with the files that timed and observing builds need:
// the network, the solver, the data. Owns the folder. Not aware of phases or steps.

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "net/graph.h"
#include "net/solver.h"
#include "workers/caffe/net_text.h"
#include "workers/caffe/process.h"

namespace tench::caffe_worker {

// Names within the folder.
inline constexpr const char* kNetFile = "net.prototxt";
inline constexpr const char* kSolverFile = "solver.prototxt";
inline constexpr const char* kDataList = "data.txt";

struct SolverText {
  Solver solver;
  uint64_t seed = 1;
  int64_t iterations = 0;
  int64_t display = 1;
  std::string snapshot;  // prefix of the files after the last iteration; "" = none
};

class Workshop {
 public:
  static Result<Workshop> Open(std::filesystem::path binary, int64_t threads);

  std::filesystem::path Path(const std::string& name) const { return folder_.path() / name; }

  // Writes the network and returns its description.
  Result<NetText> PutNet(const TypedGraph& graph, const NetForm& form) const;
  Status PutSolver(const SolverText& solver) const;
  // One resident batch, which Caffe's HDF5Data layer copies in every iteration.
  Status PutBatch(std::span<const HostTensor> inputs) const;
  // `samples` of a cycle, one file per batch. kUnsupported if the disk has too little space.
  using BatchOf = std::function<std::span<const HostTensor>(int64_t step)>;
  Status PutCycle(int64_t samples, const BatchOf& batch) const;

  Result<CaffeProcess> Start(std::vector<std::string> arguments) const;

 private:
  Workshop(std::filesystem::path binary, int64_t threads, TemporaryFolder folder)
      : binary_(std::move(binary)), threads_(threads), folder_(std::move(folder)) {}
  Status PutText(const std::string& name, const std::string& text) const;

  std::filesystem::path binary_;
  int64_t threads_ = 1;
  TemporaryFolder folder_;
};

}  // namespace tench::caffe_worker
