// SPDX-License-Identifier: Apache-2.0
#include "report/html/published.h"

#include <map>

#include "base/text.h"
#include "report/html/assets.h"

namespace tench {
namespace {

Result<std::vector<std::vector<std::string>>> Records(std::string_view csv,
                                                      std::string_view header) {
  std::vector<std::vector<std::string>> records;
  const size_t fields = Split(header, ',').size();
  size_t line_number = 0;
  for (const std::string& line : Split(csv, '\n')) {
    ++line_number;
    const std::string_view text = Trim(line);
    if (line_number == 1 && text != header) return Failed("line 1: the header is not '{}'", header);
    if (line_number == 1 || text.empty()) continue;
    records.push_back(Split(text, ','));
    if (records.back().size() != fields)
      return Failed("line {}: {} fields, expected {}", line_number, records.back().size(), fields);
  }
  return records;
}

}  // namespace

Result<std::vector<PublishedRate>> ParsePublishedRates(std::string_view csv) {
  std::vector<PublishedRate> rates;
  for (const auto& fields :
       TENCH_TRY(Records(csv, "dataset,network,framework,hardware,metric,value"))) {
    if (fields[4] != "images_per_second") continue;
    rates.push_back({fields[0], fields[1], fields[2], fields[3], TENCH_TRY(ParseReal(fields[5]))});
  }
  return rates;
}

Result<std::vector<PublishedGemm>> ParsePublishedGemms(std::string_view csv) {
  std::vector<PublishedGemm> gemms;
  for (const auto& fields : TENCH_TRY(Records(csv, "method,framework,kind,seconds,calls"))) {
    gemms.push_back({fields[0], fields[1], fields[2], TENCH_TRY(ParseReal(fields[3])),
                     TENCH_TRY(ParseInteger(fields[4]))});
  }
  return gemms;
}

Result<std::vector<Release>> ParseReleases(std::string_view csv) {
  std::vector<Release> releases;
  for (const auto& fields : TENCH_TRY(Records(csv, "worker,version,framework,released"))) {
    const std::vector<std::string> parts = Split(fields[3], '-');
    if (parts.size() != 2) return Failed("'{}' is no month such as 2017-11", fields[3]);
    const int64_t month = TENCH_TRY(ParseInteger(parts[1]));
    TENCH_TRY(ParseInteger(parts[0]));
    if (month < 1 || month > 12) return Failed("'{}' is no month such as 2017-11", fields[3]);
    releases.push_back({fields[0], fields[1], fields[2], fields[3]});
  }
  return releases;
}

std::vector<PublishedRate> PublishedRates() {
  auto rates = ParsePublishedRates(kUpv2018);
  Check(rates.ok(), "the built-in figures of 2018 do not parse");
  return *std::move(rates);
}

std::vector<Release> Releases() {
  auto releases = ParseReleases(kReleases);
  Check(releases.ok(), "the built-in table of releases does not parse");
  return *std::move(releases);
}

const Release* FindRelease(const std::vector<Release>& releases, std::string_view worker,
                           std::string_view version) {
  const std::string_view name = worker.substr(0, worker.find('@'));
  for (const Release& release : releases) {
    if (release.worker != name || !version.starts_with(release.version)) continue;
    // "1.1" is not the beginning of "1.15".
    const size_t end = release.version.size();
    if (end == version.size() || version[end] < '0' || version[end] > '9') return &release;
  }
  return nullptr;
}

std::vector<PublishedGemm> PublishedGemms() {
  auto gemms = ParsePublishedGemms(kUfsm2017Sgemm);
  Check(gemms.ok(), "the built-in figures of 2017 do not parse");
  return *std::move(gemms);
}

std::string HardwareTitle(const std::string& hardware) {
  static const std::map<std::string, std::string> titles = {
      {"cpu:2xe5-2620v2", "CPU, 2 × E5-2620 v2"},
      {"cpu:2xe5-2630v4", "CPU, 2 × E5-2630 v4"},
      {"gpu:k20m", "GPU, K20m"},
      {"gpu:2xk20m", "GPU, 2 × K20m"},
      {"gpu:p100", "GPU, P100"},
      {"gpu:2xp100", "GPU, 2 × P100"}};
  const auto found = titles.find(hardware);
  return found == titles.end() ? hardware : found->second;
}

int64_t PublishedBatch(std::string_view data, std::string_view network) {
  if (data == "mnist") return 64;
  return data == "cifar10" || network == "alexnet" ? 128 : 8;
}

}  // namespace tench
