// SPDX-License-Identifier: Apache-2.0
#pragma once
// The result of one trial as sketches, which are small enough to store and sufficient for a
// comparison. The reference's answer also has the change of each tensor under jitter, a random
// perturbation of every op's result by a few ulps, which bounds the effect of rounding. Reads the
// raw files of a trial. Not aware of processes.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "parity/sketch.h"
#include "parity/trial.h"

namespace tench {

struct TensorAnswer {
  std::string group;
  int64_t elements = 0, terms = 1;  // as WantedTensor's
  // Of the values; of parameters and running statistics, of their movement since the start.
  Sketch sketch;
  double scale = 0, mean = 0;  // the norm and the mean of the values themselves
  double change = 0;           // under jitter; known of the reference's answer only
  std::vector<float> samples;  // kOps: 64 seeded elements, for an elementwise bound
};

struct Answer {
  std::vector<std::string> order;               // of `tensors`, as computed
  std::map<std::string, TensorAnswer> tensors;  // by "KIND/NAME"
  std::vector<double> losses;
  std::vector<double> loss_changes;  // as `change`
  std::string missing;               // why a tensor could not be read; "" = all were
};

// A missing tensor, or one of the wrong size, is recorded in `missing`: it is the worker's failure.
Answer ReadAnswer(const Trial& trial, const std::filesystem::path& folder,
                  std::vector<double> losses);

// Raises the changes of `answer` to those of the same trial with jitter.
void NoteChanges(const Answer& jittered, Answer& answer);

Json ToJson(const Answer& answer);
Result<Answer> AnswerFromJson(const Json& json, const std::string& path);

}  // namespace tench
