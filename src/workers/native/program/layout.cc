// SPDX-License-Identifier: Apache-2.0
#include "workers/native/program/layout.h"

#include <algorithm>

#include "base/error.h"

namespace tench::native {

namespace {

using Tag = dnnl::memory::format_tag;

struct Loop {
  int64_t size, stride, dimension;
};

// The loops over whole blocks, innermost first; `block` becomes the elements of one block.
std::vector<Loop> Loops(const Md& md, int64_t& block) {
  const auto padded = md.get_padded_dims(), strides = md.get_strides();
  std::vector<int64_t> blocks(padded.size(), 1);
  block = 1;
  for (int i = 0; i < md.get_inner_nblks(); ++i) {
    blocks[md.get_inner_idxs()[i]] *= md.get_inner_blks()[i];
    block *= md.get_inner_blks()[i];
  }
  std::vector<Loop> loops;
  for (size_t i = 0; i < padded.size(); ++i) {
    const int64_t size = padded[i] / blocks[i];
    if (size > 1) loops.push_back({size, strides[i], static_cast<int64_t>(i)});
  }
  std::sort(loops.begin(), loops.end(),
            [](const Loop& a, const Loop& b) { return a.stride < b.stride; });
  return loops;
}

int64_t PaddedCount(const Md& md) {
  int64_t count = 1;
  for (int64_t size : md.get_padded_dims()) count *= size;
  return count;
}

}  // namespace

Md PlainMd(const Shape& shape, dnnl::memory::data_type type) {
  static constexpr Tag kTags[] = {Tag::a,    Tag::a,     Tag::ab,    Tag::abc,
                                  Tag::abcd, Tag::abcde, Tag::abcdef};
  if (shape.empty()) return Md({1}, type, Tag::a);
  Check(shape.size() < std::size(kTags), "a tensor of more than six dimensions");
  return Md(shape, type, kTags[shape.size()]);
}

int64_t ChannelBlock() {
  static const bool wide = [] {
    const auto isa = dnnl::get_effective_cpu_isa();
    return isa != dnnl::cpu_isa::sse41 && isa != dnnl::cpu_isa::avx && isa != dnnl::cpu_isa::avx2 &&
           isa != dnnl::cpu_isa::avx2_vnni && isa != dnnl::cpu_isa::avx2_vnni_2;
  }();
  return wide ? 16 : 8;
}

Md ActivationMd(const Shape& shape) {
  if (shape.size() != 4 || shape[1] < 8) return PlainMd(shape);
  return Md(shape, dnnl::memory::data_type::f32, ChannelBlock() == 16 ? Tag::nChw16c : Tag::nChw8c);
}

Md ChannelsLastMd(const Shape& shape) { return Md(shape, dnnl::memory::data_type::f32, Tag::nhwc); }

Md TimeMajorMd(const Shape& shape) { return Md(shape, dnnl::memory::data_type::f32, Tag::bac); }

std::optional<Rows> RowsOf(const Md& md) {
  int64_t length = 1;
  const std::vector<Loop> loops = Loops(md, length);
  size_t i = 0;
  for (; i < loops.size() && loops[i].stride == length; ++i) length *= loops[i].size;
  if (i == loops.size()) return Rows{1, length, length};
  Rows rows{1, length, loops[i].stride};
  for (; i < loops.size(); ++i) {
    if (loops[i].stride != rows.stride * rows.count) return std::nullopt;
    rows.count *= loops[i].size;
  }
  return rows;
}

Rows CutRows(const Rows& rows, int64_t length) {
  if (rows.length == length) return rows;
  Check(rows.count == 1 && rows.length % length == 0, "rows whose lengths do not divide");
  return {rows.length / length, length, length};
}

bool SameOrder(const Md& a, const Md& b) {
  if (a == b) return true;
  if (a.get_dims() != b.get_dims() || a.get_padded_dims() != b.get_padded_dims() ||
      a.get_inner_blks() != b.get_inner_blks() || a.get_inner_idxs() != b.get_inner_idxs()) {
    return false;
  }
  int64_t block_a = 0, block_b = 0;
  const std::vector<Loop> loops_a = Loops(a, block_a), loops_b = Loops(b, block_b);
  return std::equal(loops_a.begin(), loops_a.end(), loops_b.begin(), loops_b.end(),
                    [](const Loop& x, const Loop& y) { return x.dimension == y.dimension; });
}

bool IsDense(const Md& md) {
  const std::optional<Rows> rows = RowsOf(md);
  return rows && rows->count == 1;
}

Md DenseLike(const Md& md) {
  // A view of one sample has no gaps either, but begins at an offset.
  if (IsDense(md) && md.get_submemory_offset() == 0) return md;
  const Shape dims = md.get_dims();
  for (const Md& candidate : {ActivationMd(dims), PlainMd(dims)}) {
    if (SameOrder(candidate, md)) return candidate;
  }
  return dims.size() == 4 ? ChannelsLastMd(dims) : PlainMd(dims);
}

bool IsPadded(const Md& md) { return md.get_dims() != md.get_padded_dims(); }

bool IsPlain(const Md& md) {
  return md.get_inner_nblks() == 0 && SameOrder(md, PlainMd(md.get_dims())) && IsDense(md) &&
         PaddedCount(md) == ElementCount(md.get_dims());
}

dnnl::primitive_attr PlainAttributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::primitive_attr WithActivation(Activation activation) {
  dnnl::primitive_attr attributes = PlainAttributes();
  if (activation == Activation::kNone) return attributes;
  dnnl::post_ops post;
  post.append_eltwise(activation == Activation::kRelu      ? dnnl::algorithm::eltwise_relu
                      : activation == Activation::kSigmoid ? dnnl::algorithm::eltwise_logistic
                                                           : dnnl::algorithm::eltwise_tanh,
                      0, 0);
  attributes.set_post_ops(post);
  return attributes;
}

}  // namespace tench::native
