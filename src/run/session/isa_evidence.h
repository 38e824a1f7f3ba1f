// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which vector instructions the libraries of a worker use, by their own reports: the implementation
// names in oneDNN's verbose log, the headers of MKL and OpenBLAS, TensorFlow's list of instructions
// that it was not compiled for, and the kernels of a profile. Not aware of processes.
//
// Thread safety: pure functions.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/cpu.h"
#include "record/profile_row.h"

namespace tench {

// Library -> the widest instruction set that was seen: {"onednn", "avx2"}.
using IsaEvidence = std::map<std::string, std::string>;

// The variables that make libraries report in their log.
std::map<std::string, std::string> IsaReportVariables();

// By the name of an implementation, "brg_conv:avx512_core" or "Intel AVX2"; "" if it names none.
std::string IsaOfImplementation(std::string_view name);

void AddLogEvidence(std::string_view log, const CpuFacts& cpu, IsaEvidence& evidence);
// Of the choices or facts "isa.LIBRARY" of a worker, and of ATen's "cpu_capability".
void AddChoiceEvidence(const std::map<std::string, std::string>& choices, IsaEvidence& evidence);
void AddProfileEvidence(std::span<const ProfileRow> rows, IsaEvidence& evidence);
// Keeps the wider one of both for each library.
void MergeEvidence(const IsaEvidence& other, IsaEvidence& evidence);

// The instructions of TensorFlow's warning, "AVX2 AVX512F FMA"; "" without the warning.
std::string InstructionsNotCompiledFor(std::string_view log);

// The libraries that use wider instructions than `limit`.
std::vector<std::string> Exceeding(const IsaEvidence& evidence, std::string_view limit);

}  // namespace tench
