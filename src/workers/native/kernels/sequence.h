// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernels over sequences. Activations are time-major in memory, (time, batch, features), as the
// recurrent primitive wants them; tokens and lengths are as the batch delivers them, (batch, time)
// and (batch).

#include <cstdint>

#include "workers/native/kernels/sgd.h"

namespace tench::native {

struct SequenceShape {
  int64_t batch = 0, time = 0, features = 0;
};

void EmbeddingForward(const SequenceShape& shape, const int32_t* tokens, const float* table,
                      float* out);

// Where each row of the table occurs, so that its gradient can be summed by one thread: `starts`
// has vocabulary + 1 entries, `places` one per token, (time · batch) positions ordered by row.
void SortTokens(const SequenceShape& shape, int64_t vocabulary, const int32_t* tokens,
                int32_t* starts, int32_t* places);
void EmbeddingBackwardWeights(const SequenceShape& shape, int64_t vocabulary, const int32_t* starts,
                              const int32_t* places, const float* dy, float* gradients);
// The whole table decays and keeps its momentum, whether a row occurs or not; rows that do get
// their gradient on the way.
void EmbeddingBackwardWeightsSgd(const SequenceShape& shape, int64_t vocabulary,
                                 const int32_t* starts, const int32_t* places, const float* dy,
                                 float* table, float* momenta, const UpdateRule& rule, double lr);

// Mean of the first `length` steps.
void MeanTimeForward(const SequenceShape& shape, const float* x, const int32_t* lengths, float* y);
void MeanTimeBackward(const SequenceShape& shape, const float* dy, const int32_t* lengths,
                      float* dx);

}  // namespace tench::native
