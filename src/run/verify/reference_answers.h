// SPDX-License-Identifier: Apache-2.0
#pragma once
// The reference worker's answers to the trials of a network. They come from committed sketches
// where naive loops would take minutes, otherwise from running `reference`, each trial once per
// object. A sketch is used only for the trial that it was made of (network fingerprint and batch).

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/stop_token.h"
#include "parity/answer.h"
#include "run/session/worker_catalog.h"

namespace tench {

// Sketch files are named by network, data set and batch: "alexnet-imagenet-b4.json".
struct SubjectName {
  std::string network, data;
  std::string FileName(int64_t batch) const;
  std::string Label() const;  // "alexnet/imagenet"
};

class ReferenceAnswers {
 public:
  using Progress = std::function<void(const std::string& doing)>;

  ReferenceAnswers(const WorkerCatalog& workers, std::vector<std::filesystem::path> sketch_folders,
                   StopToken stop);

  // Whether Get answers within about half a minute of naive loops, or from sketches.
  bool Affordable(const SubjectName& name, const Subject& subject) const;
  // With the changes under jitter, except for kOps, which needs none. Only the network and the
  // batch of the trials matter of `subject`.
  Result<Answer> Get(const SubjectName& name, const Subject& subject, TrialKind kind,
                     const Progress& progress);
  // From the answer to kSteady.
  Result<Calibration> GetCalibration(const SubjectName& name, const Subject& subject,
                                     const Progress& progress);
  // Runs every trial and writes the sketch file into `folder`.
  Status WriteSketches(const SubjectName& name, const Subject& subject,
                       const std::filesystem::path& folder, const Progress& progress);

 private:
  struct Kept {
    std::string fingerprint;
    Answer answer;
  };
  Result<Answer> Run(const Trial& trial, int jitters, const Progress& progress);
  Status LoadSketches(const std::string& file_name);

  const WorkerCatalog& workers_;
  std::vector<std::filesystem::path> folders_;
  const StopToken stop_;
  int jitters_;
  std::map<std::string, std::map<std::string, Kept>> kept_;  // by file name, then by trial
};

}  // namespace tench
