// SPDX-License-Identifier: Apache-2.0
#pragma once
// Layouts: which one activations live in between layers, and how a kernel of our own walks through
// a oneDNN layout. Pure functions.

#include <dnnl.hpp>
#include <optional>

#include "net/tensor.h"
#include "workers/native/kernels/rows.h"
#include "workers/native/program/program.h"

namespace tench::native {

Md PlainMd(const Shape& shape, dnnl::memory::data_type type = dnnl::memory::data_type::f32);

// The channel block that this CPU's fastest kernels want: 8 or 16.
int64_t ChannelBlock();

// Where an activation lives between layers: images in channel blocks unless they have too few
// channels, all else plain.
Md HomeMd(const Shape& shape);
// Images with channels last.
Md ChannelsLastMd(const Shape& shape);

// Nothing if the layout is more irregular than that. Padding of channel blocks counts as elements.
std::optional<Rows> RowsOf(const Md& md);
// The same memory cut into rows of `length`; `rows` must be one row or rows of exactly that length.
Rows CutRows(const Rows& rows, int64_t length);

// Whether both keep their elements in the same order, even if one of them is a view into something
// larger.
bool SameOrder(const Md& a, const Md& b);
bool IsDense(const Md& md);   // no gaps (padding of blocks is no gap)
bool IsPadded(const Md& md);  // has elements beyond its logical ones
// A layout without gaps that keeps elements in the same order.
Md DenseLike(const Md& md);
bool IsPlain(const Md& md);  // dense, in logical order

}  // namespace tench::native
