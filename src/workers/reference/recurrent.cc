// SPDX-License-Identifier: Apache-2.0
// The LSTM. The input's part of all gates is one product over every (sample, time); only the hidden
// state's part is sequential. Backward overwrites the gates with their gradients, from the last
// step to the first, and the three large products then read them.
#include <cmath>

#include "workers/reference/kernel.h"
#include "workers/reference/product.h"

namespace tench {
namespace {

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

class LstmKernel final : public Kernel {
 public:
  LstmKernel(const Lstm& op, const KernelSite& site)
      : batch_(site.input(0)[0]),
        time_(site.input(0)[1]),
        features_(site.input(0)[2]),
        hidden_(op.hidden),
        width_(4 * op.hidden),
        gates_(batch_ * time_ * width_),
        cells_(batch_ * time_ * hidden_) {}

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    InputShare(tensors, pool);
    for (int64_t t = 0; t < time_; ++t) {
      if (t > 0) HiddenShare(t, tensors, pool);
      pool.Run(batch_, [&](int64_t sample, int64_t) {
        for (int64_t i = 0; i < hidden_; ++i) ForwardCell(sample, t, i, tensors);
      });
    }
  }

  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    std::vector<double> hidden_gradient(batch_ * hidden_, 0.0),
        cell_gradient(batch_ * hidden_, 0.0);
    for (int64_t t = time_ - 1; t >= 0; --t) {
      pool.Run(batch_, [&](int64_t sample, int64_t) {
        for (int64_t i = 0; i < hidden_; ++i) {
          const double dh = tensors.output_gradient[Position(sample, t) * hidden_ + i] +
                            hidden_gradient[sample * hidden_ + i];
          BackwardCell(sample, t, i, dh, cell_gradient[sample * hidden_ + i]);
        }
      });
      if (t > 0) HiddenGradient(t, tensors, pool, hidden_gradient);
    }
    ParameterGradients(tensors, pool);
    if (!tensors.input_gradients[0].empty()) InputGradient(tensors, pool);
  }

 private:
  enum ParameterOrder { kWeightInput, kWeightHidden, kBias };

  int64_t Position(int64_t sample, int64_t t) const { return sample * time_ + t; }
  double* Gates(int64_t sample, int64_t t) { return gates_.data() + Position(sample, t) * width_; }

  void InputShare(const KernelTensors& tensors, ThreadPool& pool) {
    const MatrixOperand<float> weights{tensors.parameters[kWeightInput].data(), features_, 1};
    const MatrixOperand<float> inputs{tensors.inputs[0].data(), features_, 1};
    MultiplyMatrices(
        pool, {width_, batch_ * time_, features_}, weights, inputs, [&](const Tile& tile) {
          for (int64_t c = 0; c < tile.columns; ++c) {
            double* gates = gates_.data() + (tile.first_column + c) * width_ + tile.first_row;
            for (int64_t r = 0; r < tile.rows; ++r)
              gates[r] = tile.at(r, c) + tensors.parameters[kBias][tile.first_row + r];
          }
        });
  }

  void HiddenShare(int64_t t, const KernelTensors& tensors, ThreadPool& pool) {
    const MatrixOperand<float> weights{tensors.parameters[kWeightHidden].data(), hidden_, 1};
    const MatrixOperand<float> before{tensors.output.data() + (t - 1) * hidden_, time_ * hidden_,
                                      1};
    MultiplyMatrices(pool, {width_, batch_, hidden_}, weights, before, [&](const Tile& tile) {
      for (int64_t c = 0; c < tile.columns; ++c) {
        double* gates = Gates(tile.first_column + c, t) + tile.first_row;
        for (int64_t r = 0; r < tile.rows; ++r) gates[r] += tile.at(r, c);
      }
    });
  }

  void ForwardCell(int64_t sample, int64_t t, int64_t i, const KernelTensors& tensors) {
    double* gates = Gates(sample, t);
    const double in = Logistic(gates[i]), forget = Logistic(gates[hidden_ + i]);
    const double fresh = std::tanh(gates[2 * hidden_ + i]), out = Logistic(gates[3 * hidden_ + i]);
    const double before = t > 0 ? cells_[Position(sample, t - 1) * hidden_ + i] : 0.0;
    const double cell = forget * before + in * fresh;
    gates[i] = in;
    gates[hidden_ + i] = forget;
    gates[2 * hidden_ + i] = fresh;
    gates[3 * hidden_ + i] = out;
    cells_[Position(sample, t) * hidden_ + i] = cell;
    tensors.output[Position(sample, t) * hidden_ + i] = static_cast<float>(out * std::tanh(cell));
  }

  // Replaces the gates by the gradients of their pre-activations, and updates `dc` from this step's
  // gradient to the previous step's.
  void BackwardCell(int64_t sample, int64_t t, int64_t i, double dh, double& dc) {
    double* gates = Gates(sample, t);
    const double in = gates[i], forget = gates[hidden_ + i], fresh = gates[2 * hidden_ + i],
                 out = gates[3 * hidden_ + i];
    const double squashed = std::tanh(cells_[Position(sample, t) * hidden_ + i]);
    const double before = t > 0 ? cells_[Position(sample, t - 1) * hidden_ + i] : 0.0;
    const double cell = dc + dh * out * (1 - squashed * squashed);
    gates[i] = cell * fresh * in * (1 - in);
    gates[hidden_ + i] = cell * before * forget * (1 - forget);
    gates[2 * hidden_ + i] = cell * in * (1 - fresh * fresh);
    gates[3 * hidden_ + i] = dh * squashed * out * (1 - out);
    dc = cell * forget;
  }

  void HiddenGradient(int64_t t, const KernelTensors& tensors, ThreadPool& pool,
                      std::vector<double>& gradient) {
    const MatrixOperand<float> weights{tensors.parameters[kWeightHidden].data(), 1, hidden_};
    const MatrixOperand<double> gates{gates_.data() + t * width_, time_ * width_, 1};
    MultiplyMatrices(pool, {hidden_, batch_, width_}, weights, gates, [&](const Tile& tile) {
      for (int64_t c = 0; c < tile.columns; ++c) {
        double* row = gradient.data() + (tile.first_column + c) * hidden_ + tile.first_row;
        for (int64_t r = 0; r < tile.rows; ++r) row[r] = tile.at(r, c);
      }
    });
  }

  void ParameterGradients(const KernelTensors& tensors, ThreadPool& pool) {
    const int64_t positions = batch_ * time_;
    const MatrixOperand<double> gates{gates_.data(), 1, width_};
    const MatrixOperand<float> inputs{tensors.inputs[0].data(), 1, features_};
    MultiplyMatrices(pool, {width_, features_, positions}, gates, inputs,
                     StoreMatrix{tensors.parameter_gradients[kWeightInput].data(), features_});

    const auto hidden_before = [&](const Block& block, Panels<kColumnPanel>& panels) {
      for (int64_t k = 0; k < block.depth; ++k) {
        const int64_t position = block.first_depth + k;
        const bool start = position % time_ == 0;  // the hidden state before a sequence is zero
        const float* before =
            start ? nullptr : tensors.output.data() + (position - 1) * hidden_ + block.first_line;
        for (int64_t line = 0; line < block.lines; ++line)
          panels.at(line, k) = start ? 0.0 : before[line];
      }
    };
    MultiplyMatrices(pool, {width_, hidden_, positions}, gates, hidden_before,
                     StoreMatrix{tensors.parameter_gradients[kWeightHidden].data(), hidden_});

    pool.Split(width_, 32, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        double sum = 0;
        for (int64_t position = 0; position < positions; ++position)
          sum += gates_[position * width_ + row];
        tensors.parameter_gradients[kBias][row] = static_cast<float>(sum);
      }
    });
  }

  void InputGradient(const KernelTensors& tensors, ThreadPool& pool) {
    const MatrixOperand<float> weights{tensors.parameters[kWeightInput].data(), 1, features_};
    const MatrixOperand<double> gates{gates_.data(), width_, 1};
    MultiplyMatrices(pool, {features_, batch_ * time_, width_}, weights, gates,
                     [&](const Tile& tile) {
                       for (int64_t c = 0; c < tile.columns; ++c) {
                         float* row = tensors.input_gradients[0].data() +
                                      (tile.first_column + c) * features_ + tile.first_row;
                         for (int64_t r = 0; r < tile.rows; ++r) AddTo(row[r], tile.at(r, c));
                       }
                     });
  }

  const int64_t batch_, time_, features_, hidden_, width_;
  std::vector<double> gates_;  // (sample, time, gate): pre-activations, then gates, then gradients
  std::vector<double> cells_;  // (sample, time, hidden)
};

}  // namespace

std::unique_ptr<Kernel> MakeLstm(const Lstm& op, const KernelSite& site) {
  return std::make_unique<LstmKernel>(op, site);
}

}  // namespace tench
