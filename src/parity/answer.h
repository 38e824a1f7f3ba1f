// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a worker answered to one trial, as sketches: small enough to keep, and all that a comparison
// needs. The reference's answer also says how far each number moves when every op's results move at
// random by a few units in the last place: what rounding may do. Reads the raw files of a trial;
// not aware of processes.

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
  Sketch sketch;     // of the values; of parameters and running statistics, of their movement since
                     // the start
  double scale = 0;  // the norm of the values themselves
  double change = 0;  // when all results move a little; known of the reference's answer only
};

struct Answer {
  std::vector<std::string> order;               // of `tensors`, as computed
  std::map<std::string, TensorAnswer> tensors;  // by "KIND/NAME"
  std::vector<double> losses;
  std::vector<double> loss_changes;  // as `change`
  std::string missing;               // why a tensor could not be read; "" = all were
};

// A tensor that is not there, or has another size than its shape says, is a finding about the
// worker and no error here.
Answer ReadAnswer(const Trial& trial, const std::filesystem::path& folder,
                  std::vector<double> losses);

// Raises the changes of `answer` to what the same trial with jitter shows.
void NoteChanges(const Answer& jittered, Answer& answer);

Json ToJson(const Answer& answer);
Result<Answer> AnswerFromJson(const Json& json, const std::string& path);

}  // namespace tench
