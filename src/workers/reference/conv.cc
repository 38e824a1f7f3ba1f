// SPDX-License-Identifier: Apache-2.0
// Convolution as implicit GEMM, three products per group over im2col patches:
//   forward          y(oc, position)  = Σ over (ic, tap)  weight(oc, ic, tap) · x patch
//   data gradient    dx(ic, pixel)    = Σ over (oc, tap)  weight(oc, ic, tap) · dy patch
//   weight gradient  dw(oc, ic, tap)  = Σ over positions  dy(oc, position) · x patch
// Positions run over all images of the batch, so that small images also fill a tile.
#include <array>

#include "workers/reference/kernel.h"
#include "workers/reference/patch.h"
#include "workers/reference/product.h"

namespace tench {
namespace {

class ConvolutionKernel final : public Kernel {
 public:
  ConvolutionKernel(const Convolution& op, const KernelSite& site)
      : op_(op),
        batch_(site.input(0)[0]),
        in_channels_(site.input(0)[1]),
        in_{site.input(0)[2], site.input(0)[3]},
        out_{site.output()[2], site.output()[3]},
        group_in_(in_channels_ / op.groups),
        group_out_(op.out_channels / op.groups),
        taps_(op.kernel.h * op.kernel.w) {}

  void Forward(const KernelTensors& tensors, const StepContext&, ThreadPool& pool) override {
    for (int64_t group = 0; group < op_.groups; ++group) ForwardGroup(group, tensors, pool);
  }

  void Backward(const KernelTensors& tensors, ThreadPool& pool) override {
    for (int64_t group = 0; group < op_.groups; ++group) {
      if (!tensors.input_gradients[0].empty()) DataGradient(group, tensors, pool);
      WeightGradient(group, tensors, pool);
    }
    if (op_.bias) BiasGradient(tensors, pool);
  }

 private:
  PatchGeometry InputPatches() const {
    return {in_, out_, op_.stride, op_.pad, op_.dilation, in_channels_, false};
  }

  int64_t OutputAt(int64_t image, int64_t channel) const {
    return (image * op_.out_channels + channel) * out_.h * out_.w;
  }

  void ForwardGroup(int64_t group, const KernelTensors& tensors, ThreadPool& pool) {
    const PatchReader patches(InputPatches(), tensors.inputs[0]);
    const int64_t depth = group_in_ * taps_;
    const int64_t plane = out_.h * out_.w;
    const MatrixOperand<float> weights{tensors.parameters[0].data() + group * group_out_ * depth,
                                       depth, 1};
    const auto columns = [&](const Block& block, Panels<kColumnPanel>& panels) {
      std::array<double, kTileColumns> line;
      const std::span<double> values(line.data(), block.lines);
      for (int64_t k = 0; k < block.depth; ++k) {
        const int64_t channel = (block.first_depth + k) / taps_,
                      tap = (block.first_depth + k) % taps_;
        patches.Read(group * group_in_ + channel, tap / op_.kernel.w, tap % op_.kernel.w,
                     block.first_line, values);
        panels.SetAcross(0, k, values);
      }
    };
    MultiplyMatrices(pool, {group_out_, batch_ * plane, depth}, weights, columns,
                     [&](const Tile& tile) {
                       for (int64_t r = 0; r < tile.rows; ++r) {
                         const int64_t channel = group * group_out_ + tile.first_row + r;
                         const double bias = op_.bias ? tensors.parameters[1][channel] : 0.0;
                         for (int64_t c = 0; c < tile.columns; ++c) {
                           const int64_t position = tile.first_column + c;
                           tensors.output[OutputAt(position / plane, channel) + position % plane] =
                               static_cast<float>(tile.at(r, c) + bias);
                         }
                       }
                     });
  }

  void DataGradient(int64_t group, const KernelTensors& tensors, ThreadPool& pool) {
    const PatchReader patches(
        {out_, in_, op_.stride, op_.pad, op_.dilation, op_.out_channels, true},
        tensors.output_gradient);
    const float* weights = tensors.parameters[0].data() + group * group_out_ * group_in_ * taps_;
    const int64_t plane = in_.h * in_.w;
    const auto rows = [&](const Block& block, Panels<kRowPanel>& panels) {
      for (int64_t k = 0; k < block.depth; ++k) {
        const int64_t filter = (block.first_depth + k) / taps_,
                      tap = (block.first_depth + k) % taps_;
        const float* origin = weights + (filter * group_in_ + block.first_line) * taps_ + tap;
        for (int64_t line = 0; line < block.lines; ++line)
          panels.at(line, k) = origin[line * taps_];
      }
    };
    const auto columns = [&](const Block& block, Panels<kColumnPanel>& panels) {
      std::array<double, kTileColumns> line;
      const std::span<double> values(line.data(), block.lines);
      for (int64_t k = 0; k < block.depth; ++k) {
        const int64_t filter = (block.first_depth + k) / taps_,
                      tap = (block.first_depth + k) % taps_;
        patches.Read(group * group_out_ + filter, tap / op_.kernel.w, tap % op_.kernel.w,
                     block.first_line, values);
        panels.SetAcross(0, k, values);
      }
    };
    MultiplyMatrices(pool, {group_in_, batch_ * plane, group_out_ * taps_}, rows, columns,
                     [&](const Tile& tile) {
                       for (int64_t r = 0; r < tile.rows; ++r) {
                         const int64_t channel = group * group_in_ + tile.first_row + r;
                         for (int64_t c = 0; c < tile.columns; ++c) {
                           const int64_t position = tile.first_column + c;
                           const int64_t image = position / plane;
                           AddTo(
                               tensors.input_gradients[0][(image * in_channels_ + channel) * plane +
                                                          position % plane],
                               tile.at(r, c));
                         }
                       }
                     });
  }

  void WeightGradient(int64_t group, const KernelTensors& tensors, ThreadPool& pool) {
    const PatchReader patches(InputPatches(), tensors.inputs[0]);
    const int64_t plane = out_.h * out_.w;
    const auto rows = [&](const Block& block, Panels<kRowPanel>& panels) {
      for (int64_t line = 0; line < block.lines; ++line) {
        const int64_t channel = group * group_out_ + block.first_line + line;
        int64_t image = block.first_depth / plane, pixel = block.first_depth % plane;
        for (int64_t k = 0; k < block.depth; ++k) {
          panels.at(line, k) = tensors.output_gradient[OutputAt(image, channel) + pixel];
          if (++pixel == plane) {
            pixel = 0;
            ++image;
          }
        }
      }
    };
    const auto columns = [&](const Block& block, Panels<kColumnPanel>& panels) {
      std::array<double, kTileDepth> line;
      const std::span<double> values(line.data(), block.depth);
      for (int64_t i = 0; i < block.lines; ++i) {
        const int64_t channel = (block.first_line + i) / taps_,
                      tap = (block.first_line + i) % taps_;
        patches.Read(group * group_in_ + channel, tap / op_.kernel.w, tap % op_.kernel.w,
                     block.first_depth, values);
        panels.SetAlong(i, 0, values);
      }
    };
    const int64_t width = group_in_ * taps_;
    float* gradient = tensors.parameter_gradients[0].data() + group * group_out_ * width;
    MultiplyMatrices(pool, {group_out_, width, batch_ * plane}, rows, columns,
                     StoreMatrix{gradient, width});
  }

  void BiasGradient(const KernelTensors& tensors, ThreadPool& pool) {
    const int64_t plane = out_.h * out_.w;
    pool.Run(op_.out_channels, [&](int64_t channel, int64_t) {
      double sum = 0;
      for (int64_t image = 0; image < batch_; ++image) {
        for (int64_t i = 0; i < plane; ++i)
          sum += tensors.output_gradient[OutputAt(image, channel) + i];
      }
      tensors.parameter_gradients[1][channel] = static_cast<float>(sum);
    });
  }

  const Convolution op_;
  const int64_t batch_, in_channels_;
  const Hw in_, out_;
  const int64_t group_in_, group_out_, taps_;
};

}  // namespace

std::unique_ptr<Kernel> MakeConvolution(const Convolution& op, const KernelSite& site) {
  return std::make_unique<ConvolutionKernel>(op, site);
}

}  // namespace tench
