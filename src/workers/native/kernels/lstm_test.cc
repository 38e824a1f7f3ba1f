// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/lstm.h"

#include "workers/native/kernels/test_arrays.h"

namespace tench::native::lstm_test {
namespace {

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The equations of lstm.h and their derivatives through time, in double.
struct Definition {
  explicit Definition(const LstmShape& shape)
      : s(shape),
        x(RandomArray(s.time * s.batch * s.features, 1)),
        w_x(RandomArray(4 * s.hidden * s.features, 2, -0.5f, 0.5f)),
        w_h(RandomArray(4 * s.hidden * s.hidden, 3, -0.5f, 0.5f)),
        bias(RandomArray(4 * s.hidden, 4)),
        dy(RandomArray(s.time * s.batch * s.hidden, 5)),
        gates(s.time * s.batch * 4 * s.hidden),
        cells(s.time * s.batch * s.hidden),
        y(cells.size()),
        dz(gates.size()),
        dx(x.size()) {
    for (int64_t row = 0; row < s.time * s.batch; ++row) Forward(row);
    std::vector<double> dh(s.batch * s.hidden), dc(s.batch * s.hidden);
    for (int64_t t = s.time - 1; t >= 0; --t) {
      for (int64_t n = 0; n < s.batch; ++n)
        Backward(t * s.batch + n, dh.data() + n * s.hidden, dc.data() + n * s.hidden);
    }
  }

  const LstmShape s;
  const std::vector<float> x, w_x, w_h, bias, dy;
  std::vector<double> gates, cells, y, dz, dx;

 private:
  void Forward(int64_t row) {
    const int64_t before = row - s.batch;
    for (int64_t u = 0; u < 4 * s.hidden; ++u) {
      double z = bias[u];
      for (int64_t f = 0; f < s.features; ++f)
        z += double{w_x[u * s.features + f]} * x[row * s.features + f];
      for (int64_t h = 0; h < s.hidden && before >= 0; ++h)
        z += w_h[u * s.hidden + h] * y[before * s.hidden + h];
      gates[row * 4 * s.hidden + u] = u / s.hidden == 2 ? std::tanh(z) : Sigmoid(z);
    }
    const double* gate = gates.data() + row * 4 * s.hidden;
    for (int64_t u = 0; u < s.hidden; ++u) {
      double& c = cells[row * s.hidden + u];
      c = gate[u] * gate[2 * s.hidden + u];
      if (before >= 0) c += gate[s.hidden + u] * cells[before * s.hidden + u];
      y[row * s.hidden + u] = gate[3 * s.hidden + u] * std::tanh(c);
    }
  }
  // dh and dc: from the next time step in, for the step before out.
  void Backward(int64_t row, double* dh, double* dc) {
    const double* gate = gates.data() + row * 4 * s.hidden;
    double* d = dz.data() + row * 4 * s.hidden;
    for (int64_t u = 0; u < s.hidden; ++u) {
      const double i = gate[u], f = gate[s.hidden + u], g = gate[2 * s.hidden + u],
                   o = gate[3 * s.hidden + u], tanh_c = std::tanh(cells[row * s.hidden + u]),
                   before = row < s.batch ? 0 : cells[(row - s.batch) * s.hidden + u];
      const double out = dy[row * s.hidden + u] + dh[u];
      const double cell = dc[u] + out * o * (1 - tanh_c * tanh_c);
      d[u] = cell * g * i * (1 - i);
      d[s.hidden + u] = cell * before * f * (1 - f);
      d[2 * s.hidden + u] = cell * i * (1 - g * g);
      d[3 * s.hidden + u] = out * tanh_c * o * (1 - o);
      dc[u] = cell * f;
    }
    for (int64_t h = 0; h < s.hidden; ++h) {
      dh[h] = 0;
      for (int64_t u = 0; u < 4 * s.hidden; ++u) dh[h] += w_h[u * s.hidden + h] * d[u];
    }
    for (int64_t f = 0; f < s.features; ++f) {
      for (int64_t u = 0; u < 4 * s.hidden; ++u)
        dx[row * s.features + f] += w_x[u * s.features + f] * d[u];
    }
  }
};

class LstmTest : public testing::TestWithParam<LstmSplit> {};

TEST_P(LstmTest, ForwardAndBackwardAreTheDefinition) {
  for (const LstmShape& shape : {LstmShape{1, 1, 1, 1}, LstmShape{5, 3, 7, 9},
                                 LstmShape{4, 13, 20, 33}, LstmShape{3, 2, 65, 40}}) {
    const Definition d(shape);
    const auto states = static_cast<int64_t>(d.cells.size());
    for (const int threads : kThreadCounts) {
      SCOPED_TRACE(testing::Message() << shape.hidden << " units, " << threads << " threads");
      const ThreadCount team(threads);
      GuardedArray panels(LstmPanelFloats(shape)), gates(4 * states), cells(states), y(states),
          state(2 * shape.batch * shape.hidden), dx(static_cast<int64_t>(d.x.size()));
      RunLstm(shape, GetParam(),
              {d.x.data(), d.w_x.data(), d.w_h.data(), d.bias.data(), panels.data(), gates.data(),
               cells.data(), y.data()});
      ExpectNear(gates.span(), d.gates, 1e-5);
      ExpectNear(cells.span(), d.cells, 1e-5);
      ExpectNear(y.span(), d.y, 1e-5);
      RunLstmBackward(shape, GetParam(),
                      {d.w_x.data(), d.w_h.data(), cells.data(), d.dy.data(), panels.data(),
                       state.data(), gates.data(), dx.data()});
      ExpectNear(gates.span(), d.dz, 2e-5);
      ExpectNear(dx.span(), d.dx, 5e-5);
      EXPECT_TRUE(panels.IsIntact() && gates.IsIntact() && cells.IsIntact() && y.IsIntact() &&
                  state.IsIntact() && dx.IsIntact());
    }
  }
}

TEST_P(LstmTest, BackwardLeavesTheDataGradientOutWhereItIsNotWanted) {
  const LstmShape shape{3, 5, 4, 17};
  const Definition d(shape);
  std::vector<float> gates(d.gates.begin(), d.gates.end()), cells(d.cells.begin(), d.cells.end()),
      panels(LstmPanelFloats(shape)), state(2 * shape.batch * shape.hidden);
  RunLstmBackward(shape, GetParam(),
                  {d.w_x.data(), d.w_h.data(), cells.data(), d.dy.data(), panels.data(),
                   state.data(), gates.data(), nullptr});
  ExpectNear(gates, d.dz, 2e-5);
}

INSTANTIATE_TEST_SUITE_P(Splits, LstmTest, testing::Values(LstmSplit::kSamples, LstmSplit::kUnits),
                         [](const auto& param) {
                           return param.param == LstmSplit::kSamples ? "samples" : "units";
                         });

TEST(LstmSplitTest, SplitsSamplesIfTheyAreManyAndTheWeightsSmall) {
  EXPECT_EQ(ChooseLstmSplit({10, 8, 16, 16}, 2), LstmSplit::kSamples);
  EXPECT_EQ(ChooseLstmSplit({10, 7, 16, 16}, 2), LstmSplit::kUnits);
  EXPECT_EQ(ChooseLstmSplit({10, 8, 16, 16}, 3), LstmSplit::kUnits);
  EXPECT_EQ(ChooseLstmSplit({10, 800, 16, 1 << 14}, 2), LstmSplit::kUnits);  // 4 GiB of weights
}

TEST(LstmSplitTest, PanelsHoldTheLargerOfBothDirections) {
  // Forward: for each of 4 gates 16 features and 17 hidden units × 17 units, padded to 32.
  EXPECT_EQ(LstmPanelFloats({1, 1, 16, 17}), 4 * (16 * 32 + 17 * 32));
  // Backward: 68 gate units × 17 hidden units, padded to 32, and × 5 features, padded to 16.
  EXPECT_EQ(LstmPanelFloats({1, 1, 5, 17}), 68 * (32 + 16));
}

}  // namespace
}  // namespace tench::native::lstm_test
