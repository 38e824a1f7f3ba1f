// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lowers an LSTM to the direct kernels of kernels/lstm.h where they are preferred; LowerLstm uses
// oneDNN's RNN primitive otherwise.

#include <optional>

#include "workers/native/compile/lowering.h"
#include "workers/native/kernels/lstm.h"

namespace tench::native {

// Nothing if oneDNN's primitive is preferred: on CPUs with AVX-512, for which oneDNN generates
// code.
std::optional<LstmSplit> ChooseDirectLstm(const Lowering& low, const LstmShape& shape);
void LowerDirectLstm(Lowering& low, size_t layer, const LstmShape& shape, LstmSplit split);

}  // namespace tench::native
