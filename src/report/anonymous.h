// SPDX-License-Identifier: Apache-2.0
#pragma once
// Removes what identifies a user from stored records: names of machines become "machine 1", …, and
// absolute paths become "PATH/file". CPU model, memory and versions stay. Machines are numbered in
// the order of their first study or run.
//
// Ownership: remembers names, not records. Thread safety: belongs to one thread.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "store/record.h"

namespace tench {

class Anonymizer {
 public:
  // Names of machines that occur only in later records are not removed from the texts of earlier
  // ones, so studies come first.
  StudyRecord Apply(StudyRecord study);
  RunRecord Apply(RunRecord run);
  ParityRecord Apply(ParityRecord parity) const;
  // Paths and known machine names of any text.
  std::string Text(std::string_view text) const;

 private:
  // Replaces a machine's name and id by its number, and remembers the name for texts.
  void Rename(std::string& machine, std::string& machine_id);

  std::map<std::string, size_t> numbers_;                   // by machine id
  std::vector<std::pair<std::string, std::string>> names_;  // (name, replacement), longest first
};

}  // namespace tench
