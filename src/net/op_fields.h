// SPDX-License-Identifier: Apache-2.0
#pragma once
// The JSON fields of every op, in the order of docs/network.md. Each is listed once for both the
// reader and the writer (`Io`). A field at its default is not written, so adding a field changes no
// fingerprint. Private to graph_json.cc.

#include <string>
#include <vector>

#include "net/op_traits.h"

namespace tench {

inline const std::vector<std::string> kRoles = {"data", "label", "tokens", "lengths"};
inline const std::vector<std::string> kPoolModes = {"max", "avg"};
inline const std::vector<std::string> kLrnRegions = {"across_channels", "within_channel"};

template <class Io>
void Visit(Io& io, Input& op) {
  io.Choice("role", op.role, InputRole::kData, kRoles);
  io.Field("shape", op.shape);
  io.Fills("fill", op.fill, Fill{});
}
template <class Io>
void Visit(Io& io, Convolution& op) {
  io.Required("out_channels", op.out_channels);
  io.Field("kernel", op.kernel, Hw{1, 1});
  io.Field("stride", op.stride, Hw{1, 1});
  io.Field("pad", op.pad, Hw{0, 0});
  io.Field("dilation", op.dilation, Hw{1, 1});
  io.Field("groups", op.groups, int64_t{1});
}
template <class Io>
void Visit(Io& io, Pooling& op) {
  io.Choice("mode", op.mode, PoolMode::kMax, kPoolModes);
  io.Field("kernel", op.kernel, Hw{1, 1});
  io.Field("stride", op.stride, Hw{1, 1});
  io.Field("pad", op.pad, Hw{0, 0});
  io.Field("ceil_mode", op.ceil_mode, false);
  io.Field("global", op.global, false);
}
template <class Io>
void Visit(Io& io, Lrn& op) {
  const Lrn fallback;
  io.Field("size", op.size, fallback.size);
  io.Field("alpha", op.alpha, fallback.alpha);
  io.Field("beta", op.beta, fallback.beta);
  io.Field("k", op.k, fallback.k);
  io.Choice("region", op.region, fallback.region, kLrnRegions);
}
template <class Io>
void Visit(Io& io, Relu& op) {
  io.Field("negative_slope", op.negative_slope, 0.0);
}
template <class Io>
void Visit(Io& io, Power& op) {
  io.Field("power", op.power, 1.0);
  io.Field("scale", op.scale, 1.0);
  io.Field("shift", op.shift, 0.0);
}
template <class Io>
void Visit(Io& io, Slice& op) {
  io.Required("begin", op.begin);
  io.Required("end", op.end);
}
template <class Io>
void Visit(Io& io, Add& op) {
  io.Field("coefficients", op.coefficients);
}
template <class Io>
void Visit(Io& io, Reshape& op) {
  io.Field("shape", op.shape);
}
template <class Io>
void Visit(Io& io, FullyConnected& op) {
  io.Required("out_features", op.out_features);
}
template <class Io>
void Visit(Io& io, Dropout& op) {
  io.Field("ratio", op.ratio, Dropout{}.ratio);
}
template <class Io>
void Visit(Io& io, BatchNorm& op) {
  io.Field("eps", op.eps, BatchNorm{}.eps);
  io.Field("momentum", op.momentum, BatchNorm{}.momentum);
  io.Field("affine", op.affine, true);
}
template <class Io>
void Visit(Io&, Scale&) {}  // graph_json.cc handles its bias, as for conv and fc
template <class Io>
void Visit(Io& io, Embedding& op) {
  io.Required("vocabulary", op.vocabulary);
  io.Required("dimension", op.dimension);
}
template <class Io>
void Visit(Io& io, Lstm& op) {
  io.Required("hidden", op.hidden);
}
template <class Io>
void Visit(Io& io, SoftmaxCrossEntropy& op) {
  io.Field("loss_weight", op.loss_weight, 1.0);
  io.Field("auxiliary", op.auxiliary, false);
  io.Field("ignore_label", op.ignore_label);
}
template <class Io>
void Visit(Io& io, SigmoidCrossEntropy& op) {
  io.Field("loss_weight", op.loss_weight, 1.0);
}
template <class Io>
void Visit(Io& io, MeanSquaredError& op) {
  io.Field("loss_weight", op.loss_weight, 1.0);
}
// The ops without fields.
template <class Io, class Bare>
requires AnyOf<Bare, Sigmoid, Tanh, Concat, Multiply, Maximum, Flatten, Softmax, MeanOverTime>
void Visit(Io&, Bare&) {}

}  // namespace tench
