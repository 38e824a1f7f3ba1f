// SPDX-License-Identifier: Apache-2.0
#include "run/session/isa_evidence.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "base/text.h"
#include "run/session/isa_limit.h"

namespace tench {
namespace {

// Plain letters and digits in lower case, so that "AVX-512" and "avx512_core" read alike.
std::string Plain(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

void AddEvidence(const std::string& library, const std::string& isa, IsaEvidence& evidence) {
  if (isa.empty()) return;
  std::string& seen = evidence[library];
  if (IsaRank(isa) > IsaRank(seen)) seen = isa;
}

// The implementation of an executed primitive; "" for any other line. The prefix and the columns
// before "exec" differ between oneDNN's versions, and the oldest name no engine.
std::string PrimitiveImplementation(std::string_view line) {
  const size_t verbose = line.find("_verbose,");
  if (verbose == std::string_view::npos) return "";
  const std::vector<std::string> fields = Split(line, ',');
  const auto exec = std::find(fields.begin(), fields.end(), "exec");
  if (exec == fields.end()) return "";
  const auto left = fields.end() - exec;
  const bool engine = left > 1 && (exec[1].starts_with("cpu") || exec[1].starts_with("gpu"));
  const auto place = engine ? 3 : 2;
  return left > place ? exec[place] : "";
}

// Core names of OpenBLAS's run-time detection.
std::string IsaOfCore(std::string_view core) {
  static constexpr std::array<std::string_view, 3> kAvx512 = {"skylakex", "cooperlake",
                                                              "sapphirerapids"};
  static constexpr std::array<std::string_view, 4> kAvx2 = {"haswell", "zen", "excavator",
                                                            "steamroller"};
  static constexpr std::array<std::string_view, 3> kAvx = {"sandybridge", "bulldozer",
                                                           "piledriver"};
  const std::string plain = Plain(core);
  const auto in = [&](const auto& names) {
    return std::find(names.begin(), names.end(), plain) != names.end();
  };
  return in(kAvx512) ? "avx512" : in(kAvx2) ? "avx2" : in(kAvx) ? "avx" : "sse41";
}

constexpr std::string_view kIsaChoice = "isa.", kAtenCapability = "cpu_capability";
constexpr std::string_view kCore = "Core: ", kOneDnnLimit = ",info,cpu,isa:";

// TensorFlow's own code is compiled for what the CPU has and the warning does not list.
std::string CompiledFor(std::string_view missing, const CpuFacts& cpu) {
  const std::vector<std::string> listed = Split(missing, ' ');
  const auto lacks = [&](std::string_view name) {
    return std::find(listed.begin(), listed.end(), name) != listed.end();
  };
  struct Level {
    const char *isa, *name;
  };
  static constexpr std::array kLevels = {Level{"avx512", "AVX512F"}, Level{"avx2", "AVX2"},
                                         Level{"avx", "AVX"}, Level{"sse41", "SSE4.1"}};
  const int widest = IsaRank(WidestIsaOf(cpu));
  for (const Level& level : kLevels) {
    if (IsaRank(level.isa) <= widest && !lacks(level.name)) return level.isa;
  }
  return "";
}

void AddLine(std::string_view line, IsaEvidence& evidence) {
  if (const std::string name = PrimitiveImplementation(line); !name.empty()) {
    AddEvidence("onednn", IsaOfImplementation(name), evidence);
  } else if (const size_t limit = line.find(kOneDnnLimit); limit != std::string_view::npos) {
    // Not every implementation names its instructions: "gemm:jit".
    AddEvidence("onednn's limit", IsaOfImplementation(line.substr(limit + kOneDnnLimit.size())),
                evidence);
  } else if (line.find("MKL_VERBOSE") != std::string_view::npos &&
             line.find("for Intel(R)") != std::string_view::npos) {
    AddEvidence("mkl", IsaOfImplementation(line.substr(line.find("for Intel(R)"))), evidence);
  } else if (line.starts_with(kCore)) {
    AddEvidence("openblas", IsaOfCore(Trim(line.substr(kCore.size()))), evidence);
  }
}

}  // namespace

std::map<std::string, std::string> IsaReportVariables() {
  return {{"ONEDNN_VERBOSE", "1"},
          {"DNNL_VERBOSE", "1"},
          {"MKLDNN_VERBOSE", "1"},
          {"MKL_VERBOSE", "1"},
          {"OPENBLAS_VERBOSE", "2"}};
}

std::string IsaOfImplementation(std::string_view name) {
  const std::string plain = Plain(name);
  const auto has = [&](std::string_view part) { return plain.find(part) != std::string::npos; };
  if (has("avx512") || has("avx10") || has("amx") || has("vectorextensions512")) return "avx512";
  if (has("avx2") || has("vectorextensions2")) return "avx2";
  if (has("avx") || has("vectorextensions")) return "avx";
  return has("sse4") ? "sse41" : "";
}

void AddLogEvidence(std::string_view log, const CpuFacts& cpu, IsaEvidence& evidence) {
  for (const std::string& line : Split(log, '\n')) AddLine(line, evidence);
  const std::string missing = InstructionsNotCompiledFor(log);
  if (!missing.empty()) AddEvidence("tensorflow's own code", CompiledFor(missing, cpu), evidence);
}

void AddChoiceEvidence(const std::map<std::string, std::string>& choices, IsaEvidence& evidence) {
  for (const auto& [name, value] : choices) {
    if (name.starts_with(kIsaChoice)) AddEvidence(name.substr(kIsaChoice.size()), value, evidence);
    if (name != kAtenCapability) continue;
    const std::string isa = IsaOfImplementation(value);
    AddEvidence("aten", isa.empty() ? "sse41" : isa, evidence);  // "DEFAULT"
  }
}

void AddProfileEvidence(std::span<const ProfileRow> rows, IsaEvidence& evidence) {
  for (const ProfileRow& row : rows)
    AddEvidence("kernels", IsaOfImplementation(row.kernel), evidence);
}

void MergeEvidence(const IsaEvidence& other, IsaEvidence& evidence) {
  for (const auto& [library, isa] : other) AddEvidence(library, isa, evidence);
}

std::string InstructionsNotCompiledFor(std::string_view log) {
  // In order of TensorFlow's versions. The oldest form has one line per instruction set.
  static constexpr std::array<std::string_view, 4> kBegins = {
      "wasn't compiled to use ", "was not compiled to use: ",
      "instructions in performance-critical operations: ", "enable the following instructions: "};
  std::set<std::string> names;
  for (const std::string& line : Split(log, '\n')) {
    for (const std::string_view begin : kBegins) {
      const size_t at = line.find(begin);
      if (at == std::string::npos) continue;
      std::string_view list = std::string_view(line).substr(at + begin.size());
      list = list.substr(0, list.find(','));
      for (const std::string& name : Split(list.substr(0, list.find(" instructions")), ' ')) {
        const std::string_view trimmed = Trim(name);
        if (!trimmed.empty()) names.emplace(trimmed);
      }
    }
  }
  return Join(std::vector<std::string>(names.begin(), names.end()), " ");
}

std::vector<std::string> Exceeding(const IsaEvidence& evidence, std::string_view limit) {
  std::vector<std::string> exceeding;
  for (const auto& [library, isa] : evidence) {
    if (IsaRank(limit) > 0 && IsaRank(isa) > IsaRank(limit))
      exceeding.push_back(fmt::format("{} uses {}", library, isa));
  }
  return exceeding;
}

}  // namespace tench
