// SPDX-License-Identifier: Apache-2.0
// Every listed candidate computes its direction of the convolution, compared with the definition in
// double precision; and the list has the documented order.
#include "workers/native/conv/conv_candidate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "net/fill.h"
#include "workers/native/conv/direct_candidates.h"
#include "workers/native/conv/flipped_weights.h"
#include "workers/native/kernels/pointwise.h"
#include "workers/native/program/layout.h"

namespace tench::native::conv_candidate_test {
namespace {

constexpr double kTolerance = 1e-5;

std::vector<float> Random(const std::string& name, int64_t count) {
  std::vector<float> values(count);
  FillTensor(5, name, {FillKind::kUniform, -1, 1}, 0, values);
  return values;
}

ConvShape Shaped(int64_t batch, int64_t in, int64_t out, int64_t side, Convolution op) {
  op.out_channels = out;
  const auto size = [&](int64_t kernel, int64_t stride, int64_t pad, int64_t dilation) {
    return (side + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
  };
  return {batch,
          {batch, in, side, side},
          {batch, out, size(op.kernel.h, op.stride.h, op.pad.h, op.dilation.h),
           size(op.kernel.w, op.stride.w, op.pad.w, op.dilation.w)},
          op};
}

// The operands of all three directions in plain layouts, by definition.
struct Definition {
  ConvShape shape;
  std::vector<float> x, w, bias, dy;
  std::vector<double> y, dx, dw, db;

  explicit Definition(const ConvShape& s)
      : shape(s),
        x(Random("x", ElementCount(s.in))),
        w(Random("w", ElementCount(s.PlainWeights().get_dims()))),
        bias(Random("bias", s.out[1])),
        dy(Random("dy", ElementCount(s.out))),
        y(dy.size()),
        dx(x.size()),
        dw(w.size()),
        db(bias.size()) {
    const Convolution& op = s.op;
    const int64_t in_group = s.in[1] / op.groups, out_group = s.out[1] / op.groups;
    for (int64_t at = 0; at < ElementCount(s.out); ++at) {
      const int64_t ow = at % s.out[3], oh = at / s.out[3] % s.out[2],
                    o = at / s.out[3] / s.out[2] % s.out[1],
                    n = at / s.out[3] / s.out[2] / s.out[1];
      y[at] = op.bias ? bias[o] : 0;
      db[o] += dy[at];
      for (int64_t i = 0; i < in_group; ++i) {
        for (int64_t kh = 0; kh < op.kernel.h; ++kh) {
          for (int64_t kw = 0; kw < op.kernel.w; ++kw) {
            const int64_t h = oh * op.stride.h - op.pad.h + kh * op.dilation.h,
                          v = ow * op.stride.w - op.pad.w + kw * op.dilation.w;
            if (h < 0 || v < 0 || h >= s.in[2] || v >= s.in[3]) continue;
            const int64_t channel = o / out_group * in_group + i;
            const int64_t from = ((n * s.in[1] + channel) * s.in[2] + h) * s.in[3] + v,
                          tap = ((o * in_group + i) * op.kernel.h + kh) * op.kernel.w + kw;
            y[at] += double{x[from]} * w[tap];
            dx[from] += double{dy[at]} * w[tap];
            dw[tap] += double{dy[at]} * x[from];
          }
        }
      }
      if (s.activation == Activation::kRelu) y[at] = std::max(y[at], 0.0);
    }
  }
};

double Distance(const std::vector<float>& found, const std::vector<double>& expected) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += (found[i] - expected[i]) * (found[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  return std::sqrt(difference / norm);
}

// Runs candidates the way that a program does.
struct Runner {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};

  // oneDNN 3.2's primitive cache ignores next_impl.
  Runner() { dnnl::set_primitive_cache_capacity(0); }

  std::vector<float> Reorder(const Md& from, std::vector<float> values, const Md& to) {
    // Garbage, so that a candidate which writes too little is found out.
    std::vector<float> result(std::max<size_t>(to.get_size(), from.get_size()) / sizeof(float), 99);
    dnnl::memory source(from, engine, values.data()), target(to, engine, result.data());
    dnnl::reorder(source, target).execute(stream, source, target);
    stream.wait();
    return result;
  }
  static std::vector<float> Empty(const Md& md) {
    return std::vector<float>(md.is_zero() ? 1 : (md.get_size() + 3) / sizeof(float), 99);
  }

  // The direction's result in the plain layout; `db` for backward-weights.
  std::vector<float> Run(const Definition& d, ConvDirection direction, const ConvCandidate& c,
                         const Md& stored, std::vector<float>& db) {
    const Md in_md = PlainMd(d.shape.in), out_md = PlainMd(d.shape.out),
             w_md = d.shape.PlainWeights();
    const bool forward = direction == ConvDirection::kForward,
               data = direction == ConvDirection::kBackwardData;
    std::vector<float> in = data ? Empty(c.in) : Reorder(in_md, d.x, c.in),
                       out = forward ? Empty(c.out) : Reorder(out_md, d.dy, c.out), weights,
                       scratch = Empty(c.scratchpad);
    std::vector<float> bias = d.bias;
    if (c.flipped) {
      weights = Empty(c.weights);
      FlipWeights(stored, Reorder(w_md, d.w, stored).data(), weights.data());
    } else {
      weights = forward || data ? Reorder(w_md, d.w, c.weights) : Empty(c.weights);
    }
    if (c.run) {
      c.run(in.data(), out.data(), weights.data(), c.bias.is_zero() ? nullptr : bias.data(),
            scratch.data());
    } else {
      const auto memory = [&](const Md& md, std::vector<float>& values) {
        return dnnl::memory(md, engine, values.data());
      };
      std::unordered_map<int, dnnl::memory> arguments;
      if (forward && !c.flipped) {
        arguments = {{DNNL_ARG_SRC, memory(c.in, in)},
                     {DNNL_ARG_WEIGHTS, memory(c.weights, weights)},
                     {DNNL_ARG_DST, memory(c.out, out)}};
        if (!c.bias.is_zero()) arguments[DNNL_ARG_BIAS] = memory(c.bias, bias);
      } else if (forward || data) {
        arguments = {{forward ? DNNL_ARG_DIFF_DST : DNNL_ARG_DIFF_SRC, memory(c.in, in)},
                     {DNNL_ARG_WEIGHTS, memory(c.weights, weights)},
                     {forward ? DNNL_ARG_DIFF_SRC : DNNL_ARG_DIFF_DST, memory(c.out, out)}};
      } else {
        arguments = {{DNNL_ARG_SRC, memory(c.in, in)},
                     {DNNL_ARG_DIFF_WEIGHTS, memory(c.weights, weights)},
                     {DNNL_ARG_DIFF_DST, memory(c.out, out)}};
        if (!c.bias.is_zero()) arguments[DNNL_ARG_DIFF_BIAS] = memory(c.bias, bias);
      }
      if (!c.scratchpad.is_zero()) arguments[DNNL_ARG_SCRATCHPAD] = memory(c.scratchpad, scratch);
      c.make().execute(stream, arguments);
      stream.wait();
    }
    if (c.flipped) {
      const std::vector<float> none(d.bias.size());
      const Shape& o = d.shape.out;
      AddBias(out.data(), d.shape.op.bias ? d.bias.data() : none.data(), o[0], o[1], o[2] * o[3],
              ChannelBlock(), d.shape.activation);
    }
    db = bias;
    if (forward) return Reorder(c.out, out, out_md);
    return data ? Reorder(c.in, in, in_md) : Reorder(c.weights, weights, w_md);
  }
};

std::vector<ConvShape> Shapes() {
  std::vector<ConvShape> shapes = {
      Shaped(2, 32, 48, 14, {0, {3, 3}, {1, 1}, {1, 1}}),
      Shaped(2, 16, 32, 12, {0, {5, 5}, {1, 1}, {2, 2}, {1, 1}, 1, false}),
      Shaped(3, 20, 50, 9, {0, {3, 3}, {2, 2}, {1, 1}}),
      Shaped(2, 32, 32, 8, {0, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2}),
      Shaped(2, 3, 16, 15, {0, {7, 7}, {2, 2}, {3, 3}}),
      Shaped(2, 16, 16, 9, {0, {3, 3}, {1, 1}, {2, 2}, {2, 2}}),
      Shaped(1, 1, 20, 12, {0, {5, 5}}),
  };
  shapes[0].activation = shapes[4].activation = Activation::kRelu;
  return shapes;
}

constexpr ConvDirection kDirections[] = {ConvDirection::kForward, ConvDirection::kBackwardData,
                                         ConvDirection::kBackwardWeights};

TEST(ConvCandidateTest, EveryCandidateComputesTheConvolution) {
  Runner runner;
  std::set<std::string> families;
  for (const ConvShape& shape : Shapes()) {
    const Definition d(shape);
    const Md stored =
        ListConvCandidates(shape, ConvDirection::kBackwardWeights, Md(), runner.engine)[0].weights;
    for (const ConvDirection direction : kDirections) {
      const bool weights = direction == ConvDirection::kBackwardWeights;
      for (const ConvCandidate& c :
           ListConvCandidates(shape, direction, weights ? Md() : stored, runner.engine)) {
        SCOPED_TRACE(shape.Key() + " " + c.id + " " + c.implementation);
        families.insert(c.id.substr(0, c.id.find('/')));
        std::vector<float> db;
        const std::vector<float> found = runner.Run(d, direction, c, stored, db);
        EXPECT_LT(Distance(found, direction == ConvDirection::kForward ? d.y
                                  : weights                            ? d.dw
                                                                       : d.dx),
                  kTolerance);
        if (weights && shape.op.bias) {
          EXPECT_LT(Distance(db, d.db), kTolerance);
        }
      }
    }
  }
  EXPECT_TRUE(families.contains("blocked"));
  EXPECT_TRUE(families.contains("channels_last"));
  EXPECT_TRUE(families.contains("plain_in"));
  EXPECT_TRUE(families.contains("winograd"));
  EXPECT_EQ(families.contains("direct"), ChannelBlock() == 8);
}

TEST(ConvCandidateTest, IdsAreUniqueAndPortableLoopsComeLast) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  for (const ConvShape& shape : Shapes()) {
    for (const ConvDirection direction : kDirections) {
      const std::vector<ConvCandidate> list = ListConvCandidates(shape, direction, Md(), engine);
      std::set<std::string> ids;
      for (const ConvCandidate& c : list) EXPECT_TRUE(ids.insert(c.id).second) << c.id;
      EXPECT_TRUE(std::is_partitioned(list.begin(), list.end(),
                                      [](const ConvCandidate& c) { return !IsPortable(c); }));
      EXPECT_FALSE(IsPortable(list[0])) << shape.Key();
    }
  }
}

TEST(ConvCandidateTest, OneIdListsThatCandidateOrNone) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const ConvShape shape = Shapes()[0];
  for (const ConvCandidate& c : ListConvCandidates(shape, ConvDirection::kForward, Md(), engine)) {
    const std::vector<ConvCandidate> only =
        ListConvCandidates(shape, ConvDirection::kForward, Md(), engine, c.id);
    ASSERT_EQ(only.size(), 1u) << c.id;
    EXPECT_EQ(only[0].id, c.id);
    EXPECT_EQ(only[0].implementation, c.implementation);
  }
  EXPECT_TRUE(ListConvCandidates(shape, ConvDirection::kForward, Md(), engine, "own/0").empty());
}

TEST(ConvCandidateTest, PortableMeansOneDnnsReferenceLoops) {
  ConvCandidate candidate;
  candidate.implementation = "ref:any";
  EXPECT_TRUE(IsPortable(candidate));
  candidate.implementation = "direct:avx2";
  EXPECT_FALSE(IsPortable(candidate));
}

TEST(DirectCandidatesTest, WinogradIsTheDefaultWhereItIsFavoured) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const ConvShape many = Shaped(4, 64, 64, 28, {0, {3, 3}, {1, 1}, {1, 1}}),
                  few = Shaped(1, 64, 64, 8, {0, {3, 3}, {1, 1}, {1, 1}}),
                  strided = Shaped(4, 64, 64, 28, {0, {3, 3}, {2, 2}, {1, 1}});
  EXPECT_TRUE(FavoursWinograd(many));
  EXPECT_FALSE(FavoursWinograd(few));
  for (const ConvDirection direction : kDirections) {
    EXPECT_EQ(ListConvCandidates(many, direction, Md(), engine)[0].id, "winograd/0");
    EXPECT_NE(ListConvCandidates(few, direction, Md(), engine)[0].id, "winograd/0");
    std::vector<ConvCandidate> added;
    AddWinograd(strided, direction, added);
    EXPECT_TRUE(added.empty());
    AddWinograd(few, direction, added);
    ASSERT_EQ(added.size(), 1u);
    EXPECT_EQ(added[0].implementation, ChannelBlock() == 8 ? "winograd:avx2" : "winograd:avx512");
  }
}

TEST(DirectCandidatesTest, WinogradFusesNoActivationButRelu) {
  ConvShape shape = Shaped(2, 16, 16, 8, {0, {3, 3}, {1, 1}, {1, 1}});
  for (const auto& [activation, count] :
       {std::pair{Activation::kRelu, 1u}, std::pair{Activation::kTanh, 0u},
        std::pair{Activation::kSigmoid, 0u}}) {
    shape.activation = activation;
    std::vector<ConvCandidate> added;
    AddWinograd(shape, ConvDirection::kForward, added);
    EXPECT_EQ(added.size(), count);
  }
}

TEST(DirectCandidatesTest, DirectKernelsNeedBlocksOfEightChannels) {
  const ConvShape shape = Shaped(2, 16, 24, 8, {0, {3, 3}, {1, 1}, {1, 1}});
  std::vector<ConvCandidate> weights, data;
  AddDirectBackwardWeights(shape, weights);
  AddDirectBackwardData(shape, data);
  if (ChannelBlock() != 8) {
    EXPECT_TRUE(weights.empty());
    EXPECT_TRUE(data.empty());
    return;
  }
  ASSERT_EQ(weights.size(), 1u);
  ASSERT_EQ(data.size(), 1u);
  for (const ConvCandidate& c : {weights[0], data[0]}) {
    EXPECT_EQ(c.id, "direct/0");
    EXPECT_EQ(c.implementation, "direct:avx2");
    EXPECT_TRUE(c.run);
  }
  EXPECT_FALSE(weights[0].bias.is_zero());
  EXPECT_TRUE(data[0].bias.is_zero());
}

}  // namespace
}  // namespace tench::native::conv_candidate_test
