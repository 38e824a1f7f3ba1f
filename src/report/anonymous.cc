// SPDX-License-Identifier: Apache-2.0
#include "report/anonymous.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/json.h"

namespace tench {
namespace {

constexpr std::string_view kPath = "PATH";
// Facts of a host that name it or a part of it.
constexpr std::array<std::string_view, 3> kNamingFacts = {"machine", "machine_id", "uuid"};

bool EndsPath(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("\"'`(),;:=<>|").find(c) != std::string_view::npos;
}

bool IsWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

// A path from the root, from a home ("~/a", "~joe/a") or relative to the folder ("./a", "../a").
// One from the root has at least two slashes; a single one is a unit or a division.
bool IsPath(std::string_view token) {
  const size_t slash = token.find('/');
  if (slash == std::string_view::npos) return false;
  if (slash == 0) return token.find('/', 1) != std::string_view::npos;
  const std::string_view first = token.substr(0, slash);
  return first.front() == '~' || first == "." || first == "..";
}

// "/home/user/data/a.csv" becomes "PATH/a.csv".
std::string WithoutPaths(std::string_view text) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    const bool begins = at == 0 || EndsPath(text[at - 1]);
    size_t end = at;
    while (end < text.size() && !EndsPath(text[end])) ++end;
    const std::string_view token = text.substr(at, end - at);
    if (begins && IsPath(token)) {
      out += kPath;
      out += token.substr(token.rfind('/'));
    } else {
      out += token;
    }
    if (end < text.size()) out += text[end];
    at = end + 1;
  }
  return out;
}

std::string WithoutName(std::string text, const std::string& name, const std::string& other) {
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
    const size_t end = at + name.size();
    const bool whole =
        (at == 0 || !IsWordPart(text[at - 1])) && (end == text.size() || !IsWordPart(text[end]));
    if (whole) text.replace(at, name.size(), other);
    at += whole ? other.size() : name.size();
  }
  return text;
}

Json WithoutNamingFacts(const Json& json, const Anonymizer& names) {
  if (json.is_string()) return names.Text(json.get<std::string>());
  if (!json.is_structured()) return json;
  Json kept = json.is_object() ? Json::object() : Json::array();
  for (const auto& [key, value] : json.items()) {
    if (!json.is_object()) {
      kept.push_back(WithoutNamingFacts(value, names));
    } else if (std::find(kNamingFacts.begin(), kNamingFacts.end(), key) == kNamingFacts.end()) {
      kept[key] = WithoutNamingFacts(value, names);
    }
  }
  return kept;
}

}  // namespace

void Anonymizer::Rename(std::string& machine, std::string& machine_id) {
  const size_t number = numbers_.emplace(machine_id, numbers_.size() + 1).first->second;
  const auto known = [&](const auto& name) { return name.first == machine; };
  if (!machine.empty() && std::none_of(names_.begin(), names_.end(), known)) {
    names_.emplace_back(machine, fmt::format("machine {}", number));
    std::stable_sort(names_.begin(), names_.end(),
                     [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  }
  machine = fmt::format("machine {}", number);
  machine_id = fmt::format("machine-{}", number);
}

std::string Anonymizer::Text(std::string_view text) const {
  std::string out = WithoutPaths(text);
  for (const auto& [name, other] : names_) out = WithoutName(std::move(out), name, other);
  return out;
}

StudyRecord Anonymizer::Apply(StudyRecord study) {
  Rename(study.machine, study.machine_id);
  study.suite = Text(study.suite);
  study.filter = Text(study.filter);
  const Json host = Json::parse(study.host_json, nullptr, false);
  study.host_json = host.is_object() ? PrintJson(WithoutNamingFacts(host, *this)) : "";
  return study;
}

RunRecord Anonymizer::Apply(RunRecord run) {
  Rename(run.machine, run.machine_id);
  run.reason = Text(run.reason);
  run.reproducer = Text(run.reproducer);
  for (AxisValue& value : run.cell.values) {
    if (auto* text = std::get_if<std::string>(&value)) *text = Text(*text);
  }
  run.budget.test_data = Text(run.budget.test_data);
  for (auto& [name, value] : run.cell.options) value = Text(value);
  for (auto& [name, value] : run.settings) value = Text(value);
  // The report does not show these; they are full of paths.
  run.worker_json.clear();
  run.environment_json.clear();
  return run;
}

ParityRecord Anonymizer::Apply(ParityRecord parity) const {
  parity.reason = Text(parity.reason);
  parity.key.setting = Text(parity.key.setting);
  return parity;
}

}  // namespace tench
