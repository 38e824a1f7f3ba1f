// SPDX-License-Identifier: Apache-2.0
#pragma once
// For tests: launches a worker as tench does, with descriptor 3 for its messages, and collects
// its output.

#include <filesystem>
#include <string>
#include <vector>

#include "protocol/message.h"

namespace tench {

// The executables named tench-worker-* beside tench, by path.
std::vector<std::string> BuiltWorkers();
// "reference" of ".../tench-worker-reference".
std::string WorkerName(const std::string& executable);

struct Dialogue {
  std::vector<std::string> lines;
  // Exit code; 1000 + signal if killed; -1 if it did not end in time.
  int code = -1;

  std::vector<Message> messages() const;  // fails the test on an invalid line
  // "hello", "build", "steps", … without repetitions of "steps".
  std::vector<std::string> types() const;
  // The last message of type T; fails the test if there is none.
  template <class T>
  T Last() const {
    for (const std::vector<Message> all = messages();
         const Message& message : std::vector(all.rbegin(), all.rend())) {
      if (const T* found = std::get_if<T>(&message)) return *found;
    }
    Missing();
    return T();
  }
  std::vector<double> losses() const;

 private:
  void Missing() const;
};

Dialogue Ask(const std::string& executable, const std::vector<std::string>& arguments,
             const std::string& input = "");
// Writes the job to a file and passes its path.
Dialogue Do(const std::string& executable, const Job& job);
// The same with `input` on standard input.
Dialogue DoWith(const std::string& executable, const Job& job, const std::string& input);
Dialogue DoText(const std::string& executable, std::string_view job);

}  // namespace tench
