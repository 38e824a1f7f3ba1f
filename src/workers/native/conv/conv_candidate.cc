// SPDX-License-Identifier: Apache-2.0
#include "workers/native/conv/conv_candidate.h"

#include <algorithm>

#include "base/error.h"
#include "workers/native/conv/direct_candidates.h"
#include "workers/native/conv/flipped_weights.h"
#include "workers/native/program/layout.h"

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

// Calls visit(pd, i, make) for each implementation worth a trial; make() generates its code.
// `describe` creates a new descriptor: copies share a handle, and next_impl mutates it.
template <class Primitive, class Describe, class Visit>
void ForEachImplementation(const Describe& describe, const Visit& visit) {
  auto pd = describe();
  for (int i = 0; i < kMaxImplementations; ++i) {
    // SSE4.1 and reference implementations are candidates only if oneDNN has nothing faster.
    const std::string name = pd.impl_info_str();
    const bool slow = NamesPortable(name) || name.find("sse41") != std::string::npos;
    if (!slow || i == 0) {
      visit(pd, i, [describe, i]() -> dnnl::primitive {
        auto fresh = describe();
        for (int skip = 0; skip < i; ++skip) fresh.next_impl();
        return Primitive(fresh);
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
  std::vector<Family> families = {{"blocked", ActivationMd(shape.in), ActivationMd(shape.out)}};
  families.push_back({"channels_last", ChannelsLastMd(shape.in), ChannelsLastMd(shape.out)});
  // With one channel NCHW and NHWC coincide.
  if (shape.in[1] > 1 && shape.in[1] < 8)
    families.push_back({"plain_in", PlainMd(shape.in), ChannelsLastMd(shape.out)});
  return families;
}

void AddForward(const ConvShape& shape, const Family& family, const dnnl::engine& engine,
                std::vector<ConvCandidate>& candidates) {
  const auto describe = [=, &engine] {
    return ForwardPd(shape, family.in, AnyLike(shape.PlainWeights()), family.out,
                     WithActivation(shape.activation), engine);
  };
  ForEachImplementation<dnnl::convolution_forward>(
      describe, [&](const auto& found, int i, const auto& make) {
        candidates.push_back({fmt::format("{}/{}", family.name, i),
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

// The convolution whose backward-data pass on flipped weights is this forward pass.
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
                              engine);  // captured: next_impl reads the hint again
  const auto describe = [=, &engine] {
    return dnnl::convolution_backward_data::primitive_desc(
        engine, algorithm::convolution_direct, family.in, weights, family.out, g.strides, g.dilates,
        g.pad_left, g.pad_right, hint, PlainAttributes());
  };
  ForEachImplementation<dnnl::convolution_backward_data>(describe, visit);
}

void AddFlipped(const ConvShape& shape, const Md& stored_weights, const dnnl::engine& engine,
                std::vector<ConvCandidate>& candidates) {
  const ConvShape mirror = Mirror(shape);
  ForEachBackwardData(mirror, Families(mirror)[0], engine,
                      [&](const auto& found, int i, const auto& make) {
                        if (!CanFlip(stored_weights, found.weights_desc())) return;
                        candidates.push_back({fmt::format("flipped/{}", i),
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
                     std::vector<ConvCandidate>& candidates) {
  ForEachBackwardData(shape, family, engine, [&](const auto& found, int i, const auto& make) {
    candidates.push_back({fmt::format("{}/{}", family.name, i),
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
                        std::vector<ConvCandidate>& candidates) {
  const Geometry g = GeometryOf(shape.op);
  const Md weights = AnyLike(shape.PlainWeights());
  const auto hint = ForwardPd(shape, family.in, weights, family.out, PlainAttributes(),
                              engine);  // captured: next_impl reads the hint again
  const auto describe = [=, &engine] {
    return dnnl::convolution_backward_weights::primitive_desc(
        engine, algorithm::convolution_direct, family.in, weights, shape.BiasMd(), family.out,
        g.strides, g.dilates, g.pad_left, g.pad_right, hint, PlainAttributes());
  };
  ForEachImplementation<dnnl::convolution_backward_weights>(
      describe, [&](const auto& found, int i, const auto& make) {
        candidates.push_back({fmt::format("{}/{}", family.name, i),
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

std::vector<ConvCandidate> ListConvCandidates(const ConvShape& shape, ConvDirection direction,
                                              const Md& stored_weights, const dnnl::engine& engine,
                                              const std::string& only) {
  std::vector<ConvCandidate> candidates;
  const auto attempt = [&](const std::string& family, const auto& add) {
    if (!only.empty() && !only.starts_with(family + "/")) return;
    try {
      add();
    } catch (const dnnl::error&) {
      // oneDNN has no implementation for this layout family; another family may have one.
    }
  };
  // The default candidate comes first: it is used where nothing is measured.
  const bool favoured = FavoursWinograd(shape);
  if (favoured) attempt("winograd", [&] { AddWinograd(shape, direction, candidates); });
  if (direction == ConvDirection::kBackwardWeights)
    attempt("direct", [&] { AddDirectBackwardWeights(shape, candidates); });
  for (const Family& family : Families(shape)) {
    attempt(family.name, [&] {
      if (direction == ConvDirection::kForward) AddForward(shape, family, engine, candidates);
      if (direction == ConvDirection::kBackwardData)
        AddBackwardData(shape, family, engine, candidates);
      if (direction == ConvDirection::kBackwardWeights)
        AddBackwardWeights(shape, family, engine, candidates);
    });
  }
  if (direction == ConvDirection::kBackwardData)
    attempt("direct", [&] { AddDirectBackwardData(shape, candidates); });
  if (!favoured) attempt("winograd", [&] { AddWinograd(shape, direction, candidates); });
  if (direction == ConvDirection::kForward && !stored_weights.is_zero() && HasMirror(shape)) {
    attempt("flipped", [&] { AddFlipped(shape, stored_weights, engine, candidates); });
  }
  if (!only.empty())
    std::erase_if(candidates, [&](const ConvCandidate& candidate) { return candidate.id != only; });
  std::stable_partition(candidates.begin(), candidates.end(),
                        [](const ConvCandidate& candidate) { return !IsPortable(candidate); });
  if (candidates.empty() && only.empty()) throw dnnl::error(dnnl_unimplemented, "convolution");
  return candidates;
}

// oneDNN's batch-reduce kernels ("brgemm") are direct convolutions.
std::string_view AlgorithmOf(const ConvCandidate& candidate) {
  const auto names = [&](const char* part) {
    return candidate.implementation.find(part) != std::string::npos;
  };
  if (candidate.id.starts_with("winograd") || names("wino")) return "winograd";
  return names("gemm") && !names("brg") ? "gemm" : "direct";
}

bool IsPortable(const ConvCandidate& candidate) { return NamesPortable(candidate.implementation); }

}  // namespace tench::native
