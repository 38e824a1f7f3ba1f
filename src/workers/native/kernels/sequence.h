// SPDX-License-Identifier: Apache-2.0
#pragma once
// Embedding lookup and masked mean over time, forward and backward. Activations are time-major,
// (time, batch, features), as the recurrent kernels want them. Tokens are (batch, time) and lengths
// (batch), as a batch delivers them. Tables are (vocabulary, features).
//
// Thread safety: a call uses the calling thread's OpenMP team. Each table row is summed by one
// thread in a fixed order, so results depend neither on timing nor on the number of threads.

#include <cstdint>

#include "workers/native/kernels/sgd.h"

namespace tench::native {

struct SequenceShape {
  int64_t batch = 0, time = 0, features = 0;
};

// out (time, batch, features) = the table rows of the tokens.
void EmbeddingForward(const SequenceShape& shape, const int32_t* tokens, const float* table,
                      float* out);

// An inverted index by counting sort: places[starts[row] … starts[row + 1]) are the positions
// t · batch + n of the token `row`. `starts` has vocabulary + 1 entries, `places` one per token.
void SortTokens(const SequenceShape& shape, int64_t vocabulary, const int32_t* tokens,
                int32_t* starts, int32_t* places);

// gradients (vocabulary, features): each row is the sum of dy over the row's positions.
void EmbeddingBackwardWeights(const SequenceShape& shape, int64_t vocabulary, const int32_t* starts,
                              const int32_t* places, const float* dy, float* gradients);

// SgdUpdate of the table with that gradient, without storing it. Weight decay and momentum apply to
// every row, whether its token occurs or not.
void EmbeddingBackwardWeightsSgd(const SequenceShape& shape, int64_t vocabulary,
                                 const int32_t* starts, const int32_t* places, const float* dy,
                                 float* table, float* momenta, const UpdateRule& rule, double lr);

// y (batch, features) = the mean of each sample's first `length` time steps; lengths are positive.
void MeanTimeForward(const SequenceShape& shape, const float* x, const int32_t* lengths, float* y);
void MeanTimeBackward(const SequenceShape& shape, const float* dy, const int32_t* lengths,
                      float* dx);

}  // namespace tench::native
