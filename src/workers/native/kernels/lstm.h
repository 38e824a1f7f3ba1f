// SPDX-License-Identifier: Apache-2.0
#pragma once
// A unidirectional LSTM over a whole sequence, forward and backward-data. Gates are in the order
// i, f, g, o; with h the output y of the time step before (0 at first) and c the cell state:
//   z = W_x·x + W_h·h + b;  c' = σ(z_f)·c + σ(z_i)·tanh(z_g);  y = σ(z_o)·tanh(c')
// Activations are time-major, (time, batch, features); weights are (4 · hidden, features) and
// (4 · hidden, hidden). The input product of all time steps is one GEMM. The recurrent product of
// a step is split over the threads by samples or by hidden units. The weight gradient is a product
// of arrays that the backward pass leaves in memory, and is computed elsewhere.
//
// Ownership: all memory is the caller's; nothing is allocated.
// Thread safety: a call uses the calling thread's OpenMP team; concurrent calls share no array that
// one of them writes.

#include <cstdint>

namespace tench::native {

struct LstmShape {
  int64_t time = 0, batch = 0, features = 0, hidden = 0;
};

enum class LstmSplit {
  kSamples,  // each thread runs all time steps of its samples; no barrier
  kUnits,    // each thread keeps its part of W_h in its cache; one barrier per time step
};
// By the number of samples per thread and by whether W_h fits the second-level cache.
LstmSplit ChooseLstmSplit(const LstmShape& shape, int64_t threads);

struct LstmForward {
  const float* x = nullptr;
  const float *weights_input = nullptr, *weights_hidden = nullptr, *bias = nullptr;
  float* panels = nullptr;  // scratch of LstmPanelFloats
  float* gates = nullptr;   // out: (time, batch, 4 · hidden), σ(i), σ(f), tanh(g), σ(o)
  float* cells = nullptr;   // out: (time, batch, hidden), the cell states
  float* y = nullptr;       // out: (time, batch, hidden)
};
void RunLstm(const LstmShape& shape, LstmSplit split, const LstmForward& f);

struct LstmBackward {
  const float *weights_input = nullptr, *weights_hidden = nullptr;
  const float *cells = nullptr, *dy = nullptr;
  float* panels = nullptr;  // scratch of LstmPanelFloats
  float* state = nullptr;   // scratch of 2 · batch · hidden
  float* gates = nullptr;   // in: the gates of RunLstm; out: dz, the gradient before activation
  float* dx = nullptr;      // out: (time, batch, features); null: not computed
};
void RunLstmBackward(const LstmShape& shape, LstmSplit split, const LstmBackward& b);

// Floats of packed weights, for either direction.
int64_t LstmPanelFloats(const LstmShape& shape);

}  // namespace tench::native
