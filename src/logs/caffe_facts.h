// SPDX-License-Identifier: Apache-2.0
#pragma once
// The facts of a training that a Caffe log states besides its steps: the network, the device, the
// batch size, the rates, and what wrote the log. Caffe prints them while it builds the network;
// `tench train` prints them in one line. Thread safety: pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tench {

struct CaffeFacts {
  std::string worker;   // of `tench train`; "" = Caffe wrote the log
  std::string network;  // "" = not in the log, as with the others
  std::string device;   // "cpu", "gpu"
  int64_t batch = 0;
  int64_t threads = 0;
  std::optional<double> lr, momentum, weight_decay;
  bool timing = false;  // `caffe time`: forward and backward passes without updates
};

CaffeFacts ReadCaffeFacts(std::string_view text);

}  // namespace tench
