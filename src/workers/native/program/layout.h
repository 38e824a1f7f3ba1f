// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory layouts: the one that activations have between layers, predicates on memory descriptors,
// a descriptor as rows of contiguous elements for direct kernels, and primitive attributes. Shared
// by compile/ and conv/; not aware of graphs or candidates. Pure functions.

#include <dnnl.hpp>
#include <optional>

#include "net/tensor.h"
#include "workers/native/kernels/activation.h"
#include "workers/native/kernels/rows.h"
#include "workers/native/program/program.h"

namespace tench::native {

// Row-major in the logical order of the dimensions; a scalar is one element.
Md PlainMd(const Shape& shape, dnnl::memory::data_type type = dnnl::memory::data_type::f32);

// The channel block of this CPU's widest vectors: 8 (AVX2) or 16 (AVX-512).
int64_t ChannelBlock();

// The layout of an activation between layers: nChw8c or nChw16c for images of at least 8 channels,
// plain for everything else.
Md ActivationMd(const Shape& shape);
// NHWC.
Md ChannelsLastMd(const Shape& shape);
// (N, T, F) with time outermost in memory.
Md TimeMajorMd(const Shape& shape);

// Nothing if no such rows exist. The padding of channel blocks counts as elements.
std::optional<Rows> RowsOf(const Md& md);
// The same memory as rows of `length`. `rows` must be one row, or have that length already.
Rows CutRows(const Rows& rows, int64_t length);

// Whether both order their elements alike; strides may differ, as in a view of a larger tensor.
bool SameOrder(const Md& a, const Md& b);
bool IsDense(const Md& md);   // without gaps; the padding of blocks is no gap
bool IsPadded(const Md& md);  // the last channel block is partly padding
// A dense layout of the same order, without a view's offset.
Md DenseLike(const Md& md);
bool IsPlain(const Md& md);  // dense, in logical order, without padding

// Attributes of every primitive: the scratchpad is the caller's, so that the arena plan covers it.
dnnl::primitive_attr PlainAttributes();
// The same with an eltwise post-op.
dnnl::primitive_attr WithActivation(Activation activation);

}  // namespace tench::native
