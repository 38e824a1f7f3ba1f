// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "workers/reference/kernel.h"
#include "workers/reference/product.h"

namespace tench {
namespace {

class FullyConnectedKernel final : public Kernel {
 public:
  FullyConnectedKernel(const FullyConnected& op, const KernelSite& site)
      : bias_(op.bias),
        batch_(site.input(0)[0]),
        in_(ElementCount(site.input(0)) / batch_),
        out_(op.out_features) {}

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    const MatrixOperand<float> weights{tensors.parameters[0].data(), in_, 1};
    const MatrixOperand<float> samples{tensors.inputs[0].data(), in_, 1};
    MultiplyMatrices(pool, {out_, batch_, in_}, weights, samples, [&](const Tile& tile) {
      for (int64_t r = 0; r < tile.rows; ++r) {
        const int64_t feature = tile.first_row + r;
        const double bias = bias_ ? tensors.parameters[1][feature] : 0.0;
        for (int64_t c = 0; c < tile.columns; ++c) {
          tensors.output[(tile.first_column + c) * out_ + feature] =
              static_cast<float>(tile.at(r, c) + bias);
        }
      }
    });
  }

  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    const float* gradient = tensors.output_gradient.data();
    const MatrixOperand<float> by_feature{gradient, 1, out_};
    const MatrixOperand<float> samples_by_input{tensors.inputs[0].data(), 1, in_};
    MultiplyMatrices(pool, {out_, in_, batch_}, by_feature, samples_by_input,
                     StoreMatrix{tensors.parameter_gradients[0].data(), in_});
    if (bias_) BiasGradient(tensors, pool);
    if (tensors.input_gradients[0].empty()) return;
    const MatrixOperand<float> weights_by_input{tensors.parameters[0].data(), 1, in_};
    const MatrixOperand<float> by_sample{gradient, out_, 1};
    MultiplyMatrices(pool, {in_, batch_, out_}, weights_by_input, by_sample, [&](const Tile& tile) {
      for (int64_t c = 0; c < tile.columns; ++c) {
        float* row =
            tensors.input_gradients[0].data() + (tile.first_column + c) * in_ + tile.first_row;
        for (int64_t r = 0; r < tile.rows; ++r) AddTo(row[r], tile.at(r, c));
      }
    });
  }

 private:
  void BiasGradient(const KernelTensors& tensors, ThreadPool& pool) {
    pool.Split(out_, 256, [&](int64_t first, int64_t last) {
      for (int64_t feature = first; feature < last; ++feature) {
        double sum = 0;
        for (int64_t sample = 0; sample < batch_; ++sample)
          sum += tensors.output_gradient[sample * out_ + feature];
        tensors.parameter_gradients[1][feature] = static_cast<float>(sum);
      }
    });
  }

  const bool bias_;
  const int64_t batch_, in_, out_;
};

// Backward sorts the positions (sample, time) by token, so that one thread accumulates each token's
// gradient, in a fixed order.
class EmbeddingKernel final : public Kernel {
 public:
  EmbeddingKernel(const Embedding& op, const KernelSite& site)
      : vocabulary_(op.vocabulary),
        dimension_(op.dimension),
        positions_(ElementCount(site.input(0))) {}

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    pool.Split(positions_, 64, [&](int64_t first, int64_t last) {
      for (int64_t position = first; position < last; ++position) {
        const auto row =
            tensors.parameters[0].subspan(tensors.integers[0][position] * dimension_, dimension_);
        std::copy(row.begin(), row.end(), tensors.output.begin() + position * dimension_);
      }
    });
  }

  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    const std::vector<int64_t> starts = CountTokens(tensors.integers[0]);
    std::vector<int64_t> occurrences(positions_), next(starts.begin(), starts.end() - 1);
    for (int64_t position = 0; position < positions_; ++position) {
      occurrences[next[tensors.integers[0][position]]++] = position;
    }
    pool.Split(vocabulary_, 64, [&](int64_t first, int64_t last) {
      for (int64_t token = first; token < last; ++token) {
        float* row = tensors.parameter_gradients[0].data() + token * dimension_;
        for (int64_t i = 0; i < dimension_; ++i) {
          double sum = 0;
          for (int64_t at = starts[token]; at < starts[token + 1]; ++at) {
            sum += tensors.output_gradient[occurrences[at] * dimension_ + i];
          }
          row[i] = static_cast<float>(sum);
        }
      }
    });
  }

 private:
  // starts[t] is the number of positions with a token smaller than t.
  std::vector<int64_t> CountTokens(std::span<const int32_t> tokens) const {
    std::vector<int64_t> starts(vocabulary_ + 1, 0);
    for (const int32_t token : tokens) ++starts[token + 1];
    for (int64_t token = 0; token < vocabulary_; ++token) starts[token + 1] += starts[token];
    return starts;
  }

  const int64_t vocabulary_, dimension_, positions_;
};

}  // namespace

std::unique_ptr<Kernel> MakeFullyConnected(const FullyConnected& op, const KernelSite& site) {
  return std::make_unique<FullyConnectedKernel>(op, site);
}
std::unique_ptr<Kernel> MakeEmbedding(const Embedding& op, const KernelSite& site) {
  return std::make_unique<EmbeddingKernel>(op, site);
}

}  // namespace tench
