// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/conv_candidate.h"

#include <algorithm>

#include "base/error.h"
#include "workers/native/compile/lowering.h"
#include "workers/native/conv/direct_candidates.h"
#include "workers/native/kernels/parallel.h"

namespace tench::native {
namespace {

using Tag = dnnl::memory::format_tag;
using dnnl::algorithm;
using dnnl::prop_kind;

constexpr int kMaxImplementations = 8;

Md AnyLike(const Md& md) { return Md(md.get_dims(), dnnl::memory::data_type::f32, Tag::any); }

struct Geometry {
  Shape strides, dilates, pad_left, pad_right;
};

Geometry GeometryOf(const Convolution& op) {
  return {{op.stride.h, op.stride.w},
          {op.dilation.h - 1, op.dilation.w - 1},
          {op.pad.h, op.pad.w},
          {op.pad.h, op.pad.w}};
}

dnnl::convolution_forward::primitive_desc ForwardPd(const ConvShape& shape, const Md& in,
                                                    const Md& weights, const Md& out,
                                                    const dnnl::primitive_attr& attributes,
                                                    const dnnl::engine& engine) {
  const Geometry g = GeometryOf(shape.op);
  const auto prop = shape.training ? prop_kind::forward_training : prop_kind::forward_inference;
  return {engine,     prop,        algorithm::convolution_direct,
          in,         weights,     shape.BiasMd(),
          out,        g.strides,   g.dilates,
          g.pad_left, g.pad_right, attributes};
}

bool NamesPortable(const std::string& implementation) {
  return implementation.find("ref") != std::string::npos;
}

// Calls visit(pd, i, make) for each implementation worth trying, where make() generates its code.
// `describe` makes the descriptor anew each time, because copies of one share a handle, which
// next_impl changes.
template <class Primitive, class Describe, class Visit>
void ForEachImplementation(const Describe& describe, const Visit& visit) {
  auto pd = describe();
  for (int i = 0; i < kMaxImplementations; ++i) {
    // Narrower vectors than this CPU's, and no generated code at all, only matter where nothing
    // else exists.
    const std::string name = pd.impl_info_str();
    const bool slow = NamesPortable(name) || name.find("sse41") != std::string::npos;
    if (!slow || i == 0) {
      visit(pd, i, [describe, i]() -> dnnl::primitive {
        auto own = describe();
        for (int skip = 0; skip < i; ++skip) own.next_impl();
        return Primitive(own);
      });
    }
    if (!pd.next_impl()) return;
  }
}

struct Family {
  std::string name;
  Md in, out;
};

std::vector<Family> Families(const ConvShape& shape) {
  std::vector<Family> families = {{"blocked", HomeMd(shape.in), HomeMd(shape.out)}};
  families.push_back({"channels_last", ChannelsLastMd(shape.in), ChannelsLastMd(shape.out)});
  // One channel is first and last at once.
  if (shape.in[1] > 1 && shape.in[1] < 8)
    families.push_back({"plain_in", PlainMd(shape.in), ChannelsLastMd(shape.out)});
  return families;
}

void AddForward(const ConvShape& shape, const Family& family, const dnnl::engine& engine,
                std::vector<ConvCandidate>& kernels) {
  const auto describe = [=, &engine] {
    return ForwardPd(shape, family.in, AnyLike(shape.PlainWeights()), family.out,
                     WithActivation(shape.activation), engine);
  };
  ForEachImplementation<dnnl::convolution_forward>(
      describe, [&](const auto& found, int i, const auto& make) {
        kernels.push_back({fmt::format("{}/{}", family.name, i),
                           found.impl_info_str(),
                           make,
                           found.src_desc(),
                           found.weights_desc(),
                           shape.BiasMd(),
                           found.dst_desc(),
                           found.scratchpad_desc(),
                           false,
                           {}});
      });
}

// The convolution whose backward-data pass is this forward pass.
ConvShape Mirror(const ConvShape& shape) {
  ConvShape mirror = shape;
  std::swap(mirror.in, mirror.out);
  mirror.op.out_channels = shape.in[1];
  mirror.op.bias = false;
  mirror.op.pad = {shape.op.dilation.h * (shape.op.kernel.h - 1) - shape.op.pad.h,
                   shape.op.dilation.w * (shape.op.kernel.w - 1) - shape.op.pad.w};
  mirror.activation = Activation::kNone;
  mirror.training = true;
  return mirror;
}

bool HasMirror(const ConvShape& shape) {
  return shape.op.stride == Hw{1, 1} && shape.op.kernel != Hw{1, 1} &&
         shape.op.pad.h <= shape.op.dilation.h * (shape.op.kernel.h - 1) &&
         shape.op.pad.w <= shape.op.dilation.w * (shape.op.kernel.w - 1) &&
         shape.in[1] % ChannelBlock() == 0 && shape.out[1] % ChannelBlock() == 0;
}

template <class Visit>
void ForEachBackwardData(const ConvShape& shape, const Family& family, const dnnl::engine& engine,
                         const Visit& visit) {
  const Geometry g = GeometryOf(shape.op);
  const Md weights = AnyLike(shape.PlainWeights());
  ConvShape bare = shape;
  bare.training = true;
  const auto hint = ForwardPd(bare, family.in, weights, family.out, PlainAttributes(),
                              engine);  // next_impl looks at it again
  const auto describe = [=, &engine] {
    return dnnl::convolution_backward_data::primitive_desc(
        engine, algorithm::convolution_direct, family.in, weights, family.out, g.strides, g.dilates,
        g.pad_left, g.pad_right, hint, PlainAttributes());
  };
  ForEachImplementation<dnnl::convolution_backward_data>(describe, visit);
}

void AddFlipped(const ConvShape& shape, const Md& home_weights, const dnnl::engine& engine,
                std::vector<ConvCandidate>& kernels) {
  const ConvShape mirror = Mirror(shape);
  ForEachBackwardData(mirror, Families(mirror)[0], engine,
                      [&](const auto& found, int i, const auto& make) {
                        if (!CanFlip(home_weights, found.weights_desc())) return;
                        kernels.push_back({fmt::format("flipped/{}", i),
                                           std::string("flipped ") + found.impl_info_str(),
                                           make,
                                           found.diff_dst_desc(),
                                           found.weights_desc(),
                                           Md(),
                                           found.diff_src_desc(),
                                           found.scratchpad_desc(),
                                           true,
                                           {}});
                      });
}

void AddBackwardData(const ConvShape& shape, const Family& family, const dnnl::engine& engine,
                     std::vector<ConvCandidate>& kernels) {
  ForEachBackwardData(shape, family, engine, [&](const auto& found, int i, const auto& make) {
    kernels.push_back({fmt::format("{}/{}", family.name, i),
                       found.impl_info_str(),
                       make,
                       found.diff_src_desc(),
                       found.weights_desc(),
                       Md(),
                       found.diff_dst_desc(),
                       found.scratchpad_desc(),
                       false,
                       {}});
  });
}

void AddBackwardWeights(const ConvShape& shape, const Family& family, const dnnl::engine& engine,
                        std::vector<ConvCandidate>& kernels) {
  const Geometry g = GeometryOf(shape.op);
  const Md weights = AnyLike(shape.PlainWeights());
  const auto hint = ForwardPd(shape, family.in, weights, family.out, PlainAttributes(),
                              engine);  // next_impl looks at it again
  const auto describe = [=, &engine] {
    return dnnl::convolution_backward_weights::primitive_desc(
        engine, algorithm::convolution_direct, family.in, weights, shape.BiasMd(), family.out,
        g.strides, g.dilates, g.pad_left, g.pad_right, hint, PlainAttributes());
  };
  ForEachImplementation<dnnl::convolution_backward_weights>(
      describe, [&](const auto& found, int i, const auto& make) {
        kernels.push_back({fmt::format("{}/{}", family.name, i),
                           found.impl_info_str(),
                           make,
                           found.src_desc(),
                           found.diff_weights_desc(),
                           shape.BiasMd(),
                           found.diff_dst_desc(),
                           found.scratchpad_desc(),
                           false,
                           {}});
      });
}

}  // namespace

std::string ConvShape::Key() const {
  return fmt::format("n{}_i{}x{}x{}_o{}x{}x{}_k{}x{}_s{}x{}_p{}x{}_d{}x{}_g{}_b{}_a{}", batch,
                     in[1], in[2], in[3], out[1], out[2], out[3], op.kernel.h, op.kernel.w,
                     op.stride.h, op.stride.w, op.pad.h, op.pad.w, op.dilation.h, op.dilation.w,
                     op.groups, op.bias ? 1 : 0, static_cast<int>(activation));
}

int64_t ConvShape::Flops() const {
  return 2 * ElementCount(out) * (in[1] / op.groups) * op.kernel.h * op.kernel.w;
}

Md ConvShape::BiasMd() const { return op.bias ? PlainMd({op.out_channels}) : Md(); }

Md ConvShape::PlainWeights() const {
  const int64_t groups = op.groups;
  if (groups == 1) return PlainMd({op.out_channels, in[1], op.kernel.h, op.kernel.w});
  return PlainMd({groups, op.out_channels / groups, in[1] / groups, op.kernel.h, op.kernel.w});
}

std::vector<ConvCandidate> ListConvCandidates(const ConvShape& shape, ConvDirection direction,
                                              const Md& home_weights, const dnnl::engine& engine,
                                              const std::string& only) {
  std::vector<ConvCandidate> kernels;
  const auto attempt = [&](const std::string& family, const auto& add) {
    if (!only.empty() && !only.starts_with(family + "/")) return;
    try {
      add();
    } catch (const dnnl::error&) {
      // This family has no kernel for the shape; another may.
    }
  };
  // First where they lead almost always: what is never measured takes the first.
  const bool favoured = FavoursWinograd(shape);
  if (favoured) attempt("winograd", [&] { AddWinograd(shape, direction, kernels); });
  if (direction == ConvDirection::kBackwardWeights)
    attempt("own", [&] { AddOwnGradient(shape, kernels); });
  for (const Family& family : Families(shape)) {
    attempt(family.name, [&] {
      if (direction == ConvDirection::kForward) AddForward(shape, family, engine, kernels);
      if (direction == ConvDirection::kBackwardData)
        AddBackwardData(shape, family, engine, kernels);
      if (direction == ConvDirection::kBackwardWeights)
        AddBackwardWeights(shape, family, engine, kernels);
    });
  }
  if (direction == ConvDirection::kBackwardData)
    attempt("own", [&] { AddOwnData(shape, kernels); });
  if (!favoured) attempt("winograd", [&] { AddWinograd(shape, direction, kernels); });
  if (direction == ConvDirection::kForward && !home_weights.is_zero() && HasMirror(shape)) {
    attempt("flipped", [&] { AddFlipped(shape, home_weights, engine, kernels); });
  }
  if (!only.empty())
    std::erase_if(kernels, [&](const ConvCandidate& kernel) { return kernel.id != only; });
  std::stable_partition(kernels.begin(), kernels.end(),
                        [](const ConvCandidate& kernel) { return !IsPortable(kernel); });
  if (kernels.empty() && only.empty()) throw dnnl::error(dnnl_unimplemented, "convolution");
  return kernels;
}

bool IsPortable(const ConvCandidate& kernel) { return NamesPortable(kernel.implementation); }

bool CanFlip(const Md& home, const Md& flipped) {
  const int groups = home.get_ndims() - 4;
  const auto home_blocks = home.get_inner_blks(), flipped_blocks = flipped.get_inner_blks();
  const auto home_order = home.get_inner_idxs(), flipped_order = flipped.get_inner_idxs();
  if (home.get_ndims() != flipped.get_ndims() || home_blocks.size() != 2 ||
      home_blocks[0] != home_blocks[1])
    return false;
  // In home the inner block is [i][o]; in flipped, where the roles of i and o are exchanged,
  // [o'][i'] is the same order.
  return home_blocks == flipped_blocks && home_order == Shape{groups + 1, groups} &&
         flipped_order == Shape{groups, groups + 1} && !IsPadded(home) && !IsPadded(flipped) &&
         IsDense(home) && IsDense(flipped);
}

void FlipWeights(const Md& home, const float* weights, float* flipped) {
  const Shape dims = home.get_dims();
  const int64_t block = home.get_inner_blks()[0], grouped = static_cast<int64_t>(dims.size()) - 4;
  const int64_t groups = grouped ? dims[0] : 1;
  const int64_t out = dims[grouped] / block, in = dims[grouped + 1] / block,
                area = dims[grouped + 2] * dims[grouped + 3];
  const int64_t elements = block * block;
  ParallelFor(groups * out * in, std::max<int64_t>(1, 16384 / (area * elements)),
              [&](int64_t first, int64_t last) {
                for (int64_t at = first; at < last; ++at) {
                  const int64_t i = at % in, o = at / in % out, g = at / in / out;
                  const float* from = weights + at * area * elements;
                  float* to = flipped + ((g * in + i) * out + o) * area * elements;
                  for (int64_t k = 0; k < area; ++k)
                    std::copy_n(from + k * elements, elements, to + (area - 1 - k) * elements);
                }
              });
}

}  // namespace tench::native
