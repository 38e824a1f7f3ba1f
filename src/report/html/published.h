// SPDX-License-Identifier: Apache-2.0
#pragma once
// The published figures of earlier studies, parsed from the embedded files of reference/. They
// come from other hardware and versions, which every caller must state.
// Thread safety: pure functions.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tench {

// UPV report, 2018, Appendix A.
struct PublishedRate {
  std::string data, network, framework;
  std::string hardware;  // as in the file: "cpu:2xe5-2620v2", "gpu:p100"
  double images_per_s = 0;
};

// UFSM thesis, 2017, Table 5.1.
struct PublishedGemm {
  std::string method, framework, kind;
  double seconds = 0;
  int64_t calls = 0;
};

// reference/releases.csv: when a framework's version was released.
struct Release {
  std::string worker, version, framework;
  std::string month;  // "2017-11"
};

Result<std::vector<PublishedRate>> ParsePublishedRates(std::string_view csv);
Result<std::vector<PublishedGemm>> ParsePublishedGemms(std::string_view csv);
Result<std::vector<Release>> ParseReleases(std::string_view csv);
// The embedded files.
std::vector<PublishedRate> PublishedRates();
std::vector<PublishedGemm> PublishedGemms();
std::vector<Release> Releases();

// The release of "tensorflow1@1.4.0" or "tensorflow1" in version "1.4.0"; nullptr if unknown.
const Release* FindRelease(const std::vector<Release>& releases, std::string_view worker,
                           std::string_view version);

// "2 × E5-2620 v2", "P100", "2 × K20m"
std::string HardwareTitle(const std::string& hardware);
// The batch size of the 2018 report for a data set and network.
int64_t PublishedBatch(std::string_view data, std::string_view network);

}  // namespace tench
