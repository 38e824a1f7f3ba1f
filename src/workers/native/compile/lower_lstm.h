// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lowers an LSTM to kernels of our own (lstm_kernel.h), where they are the better choice; LowerLstm
// has oneDNN's for the rest.

#include <optional>

#include "workers/native/compile/lowering.h"
#include "workers/native/kernels/lstm.h"

namespace tench::native {

// Nothing where oneDNN's primitive is to do it.
std::optional<LstmSplit> ChooseOwnLstm(const Lowering& low, const LstmShape& shape);
void LowerOwnLstm(Lowering& low, size_t layer, const LstmShape& shape, LstmSplit split);

}  // namespace tench::native
