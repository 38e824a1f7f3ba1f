// SPDX-License-Identifier: Apache-2.0
#pragma once
// An LSTM over a whole sequence in one call (the equations stand at net/op.h's Lstm). Activations
// are time-major, (time, batch, features); weights as the contract has them, (4 · hidden,
// features). Everything that does not depend on the state before it is one large product over all
// steps of time. Each step's product with the state is small, and either the samples or the hidden
// units are divided over the threads. Memory is the caller's; nothing is allocated. The gradients
// of the weights are products of what is left in memory and are not made here.

#include <cstdint>

namespace tench::native {

struct LstmShape {
  int64_t time = 0, batch = 0, features = 0, hidden = 0;
};

enum class LstmSplit {
  kSamples,  // each thread goes through time by itself with the whole matrix; threads never wait
             // for each other
  kUnits,    // each keeps its part of the matrix in its cache, for all samples; they meet once per
             // step of time
};
// By the number of samples and by whether the matrix fits a core's second-level cache.
LstmSplit ChooseLstmSplit(const LstmShape& shape, int64_t threads);

struct LstmForward {
  const float* x = nullptr;
  const float *weights_input = nullptr, *weights_hidden = nullptr, *bias = nullptr;
  float* panels = nullptr;  // scratch of LstmPanelFloats
  float* gates =
      nullptr;  // (time, batch, 4 · hidden): σ(i), σ(f), tanh(g), σ(o), kept for the backward pass
  float* cells = nullptr;  // (time, batch, hidden), kept too
  float* y = nullptr;
};
void RunLstm(const LstmShape& shape, LstmSplit split, const LstmForward& f);

struct LstmBackward {
  const float *weights_input = nullptr, *weights_hidden = nullptr;
  const float *cells = nullptr, *dy = nullptr;
  float* panels = nullptr;  // scratch of LstmPanelFloats
  float* state = nullptr;   // scratch of 2 · batch · hidden
  float* gates =
      nullptr;  // in: as RunLstm left them; out: the gradients before the gates' activations
  float* dx = nullptr;  // null: not wanted
};
void RunLstmBackward(const LstmShape& shape, LstmSplit split, const LstmBackward& b);

int64_t LstmPanelFloats(const LstmShape& shape);

}  // namespace tench::native
