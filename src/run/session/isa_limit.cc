// SPDX-License-Identifier: Apache-2.0
#include "run/session/isa_limit.h"

#include <algorithm>
#include <array>

namespace tench {
namespace {

// One row per level; every library has its own names.
struct Level {
  const char *isa, *onednn, *aten, *mkl, *openblas, *blis;
};

// ATen has kernels for AVX2 and AVX-512 only. OpenBLAS's Penryn is the first core with SSE4.1.
// AVX512_CORE is AVX-512 F, CD, BW, DQ and VL, without VNNI, bf16 and AMX.
constexpr std::array kLevels = {
    Level{"sse41", "SSE41", "default", "SSE4_2", "Penryn", "penryn"},
    Level{"avx", "AVX", "default", "AVX", "Sandybridge", "sandybridge"},
    Level{"avx2", "AVX2", "avx2", "AVX2", "Haswell", "haswell"},
    Level{"avx512", "AVX512_CORE", "avx512", "AVX512", "SkylakeX", "skx"},
};

const Level* Find(std::string_view isa) {
  const auto found = std::find_if(kLevels.begin(), kLevels.end(),
                                  [&](const Level& level) { return isa == level.isa; });
  return found == kLevels.end() ? nullptr : &*found;
}

}  // namespace

int IsaRank(std::string_view isa) {
  const Level* level = Find(isa);
  return level == nullptr ? 0 : static_cast<int>(level - kLevels.data()) + 1;
}

std::map<std::string, std::string> IsaVariables(std::string_view isa) {
  const Level* level = Find(isa);
  if (level == nullptr) return {};
  return {{"ONEDNN_MAX_CPU_ISA", level->onednn},
          {"DNNL_MAX_CPU_ISA", level->onednn},  // before version 2.0
          {"ATEN_CPU_CAPABILITY", level->aten},
          {"MKL_ENABLE_INSTRUCTIONS", level->mkl},
          {"OPENBLAS_CORETYPE", level->openblas},
          {"BLIS_ARCH_TYPE", level->blis},
          {"TENCH_ISA", level->isa}};
}

std::string WidestIsaOf(const CpuFacts& cpu) {
  const std::string widest = IsaOf(cpu);
  if (widest.starts_with("avx512")) return "avx512";
  if (widest == "avx2" || widest == "avx") return widest;
  return widest == "sse4_2" ? "sse41" : "";
}

Status CheckIsa(std::string_view isa, const CpuFacts& cpu) {
  const std::string widest = WidestIsaOf(cpu);
  if (IsaRank(isa) <= IsaRank(widest)) return Ok();
  return Unsupported("isa: this CPU has no {} ({})", isa,
                     widest.empty() ? "its architecture is " + cpu.architecture
                                    : "its widest instruction set is " + widest);
}

}  // namespace tench
