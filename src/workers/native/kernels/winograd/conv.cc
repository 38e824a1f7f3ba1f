// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/winograd/conv.h"

#include <type_traits>

#include "workers/native/kernels/cpu_features.h"
#include "workers/native/kernels/parallel.h"
#include "workers/native/kernels/winograd/tile_transform.h"

namespace tench::native {
namespace {

using namespace winograd;

constexpr int64_t kRowBlock = 96;
constexpr int64_t kFavouredTiles = 24;  // break-even with a direct convolution is near 16

// The three buffers of a tile block; blocking.h has their layout.
struct Buffers {
  float *v, *m, *u;

  template <int64_t kTaps, int64_t kBlock>
  Buffers(const Blocking<kTaps, kBlock>& g, float* scratch, int64_t index)
      : v(scratch + index * g.buffer_floats()),
        m(v + kPoints * g.v_stride()),
        u(m + kPoints * g.m_stride()) {}
};

// How the work of a tile block is split: over all threads, or not at all.
struct OverThreads {
  template <class Work>
  void operator()(int64_t count, const Work& work) const {
    ParallelFor(count, 1, work);
  }
};
struct OnThisThread {
  template <class Work>
  void operator()(int64_t count, const Work& work) const {
    work(int64_t{0}, count);
  }
};

// Calls work(first tile, tiles, buffers, split) for each tile block.
template <int64_t kTaps, int64_t kBlock, class Work>
void ForEachTileBlock(const Blocking<kTaps, kBlock>& g, float* scratch, const Work& work) {
  const auto run = [&](int64_t index, const Buffers& buffers, const auto& split) {
    work(index * g.tile_block, std::min(g.tile_block, g.tiles - index * g.tile_block), buffers,
         split);
  };
  if (g.blocks_in_flight == 1) {
    for (int64_t index = 0; index < g.tile_blocks(); ++index)
      run(index, Buffers(g, scratch, 0), OverThreads());
    return;
  }
  ParallelFor(g.tile_blocks(), 1, [&](int64_t first, int64_t last) {
    for (int64_t index = first; index < last; ++index)
      run(index, Buffers(g, scratch, omp_get_thread_num()), OnThisThread());
  });
}

// Calls work(first channel, channels) for each output-channel block.
template <int64_t kTaps, int64_t kBlock, class Work>
void ForEachOcBlock(const Blocking<kTaps, kBlock>& g, const Work& work) {
  const int64_t channels = g.out_channels();
  for (int64_t channel = 0; channel < channels; channel += g.oc_block)
    work(channel, std::min(g.oc_block, channels - channel));
}

// The GEMMs of all 36 points, with `rows` rows each. `at` has the operands of the first point;
// those of the others follow at strides of `a`, `b` and `c` floats.
template <class Split>
void MultiplyPoints(const PanelProduct& at, int64_t a, int64_t b, int64_t c, int64_t rows,
                    const Split& split) {
  const int64_t pieces = (rows + kRowBlock - 1) / kRowBlock;
  split(kPoints * pieces, [&](int64_t first, int64_t last) {
    for (int64_t item = first; item < last; ++item) {
      const int64_t point = item / pieces, row = item % pieces * kRowBlock;
      PanelProduct product = at;
      product.a.data += point * a + row * at.a.row_stride;
      product.panels += point * b;
      product.c += point * c + row * at.c_stride;
      Multiply(product, std::min(kRowBlock, rows - row), 0, PanelCount(at.columns));
    }
  });
}

// M = V · U for a tile block and an output-channel block.
template <int64_t kTaps, int64_t kBlock, class Split>
void MultiplyTiles(const Blocking<kTaps, kBlock>& g, const Buffers& buffers, const float* u,
                   int64_t tiles, int64_t channels, const Split& split) {
  MultiplyPoints(
      {{buffers.v, g.v_row(), 1}, u, g.in.channels, channels, buffers.m, g.m_row(), false},
      g.v_stride(), g.u_stride(), g.m_stride(), tiles, split);
}

template <int64_t kTaps, int64_t kBlock>
void TransformWeights(const Blocking<kTaps, kBlock>& g, const Weights& weights, int64_t channel,
                      int64_t channels, float* to) {
  ParallelFor(channels / kBlock * g.in.blocks, 1, [&](int64_t first, int64_t last) {
    for (int64_t at = first; at < last; ++at) {
      TransformWeightBlock(g, weights, at % g.in.blocks, at / g.in.blocks,
                           channel / kBlock + at / g.in.blocks, to);
    }
  });
}

template <int64_t kTaps, int64_t kBlock>
void Convolve(const Blocking<kTaps, kBlock>& g, const float* in, const Weights& weights,
              const PostOps& post, float* out, float* scratch) {
  float* const u = Buffers(g, scratch, 0).u;  // shared by all tile blocks
  const bool once = g.oc_blocks() == 1;
  if (once) TransformWeights(g, weights, 0, g.out_channels(), u);
  ForEachTileBlock(
      g, scratch, [&](int64_t begin, int64_t count, const Buffers& buffers, const auto& split) {
        split(count, [&](int64_t first, int64_t last) {
          TransformInput(g, in, begin, first, last, buffers.v);
        });
        ForEachOcBlock(g, [&](int64_t channel, int64_t channels) {
          if (!once) TransformWeights(g, weights, channel, channels, u);
          MultiplyTiles(g, buffers, u, count, channels, split);
          split(count, [&](int64_t first, int64_t last) {
            TransformOutput(g, buffers.m, begin, first, last, channel, channels, post, out);
          });
        });
      });
}

// Backward-data as the transpose of the forward map, dx = Σ B · M · Bᵀ with M = (A · dy · Aᵀ) · U.
// It has the tiles of the forward pass, which are fewer than those of a convolution with rotated
// weights if x is not padded. It needs one output-channel block and tile blocks of whole images.
template <int64_t kTaps, int64_t kBlock>
void TransposedConvolve(const Blocking<kTaps, kBlock>& g, const float* dy, const Weights& weights,
                        float* dx, float* scratch) {
  float* const u = Buffers(g, scratch, 0).u;
  TransformWeights(g, weights, 0, g.out_channels(), u);
  ForEachTileBlock(
      g, scratch, [&](int64_t begin, int64_t count, const Buffers& buffers, const auto& split) {
        split(count, [&](int64_t first, int64_t last) {
          TransformOutputGradient(g, g.in, dy, begin, first, last, 0, g.in_channels(),
                                  {buffers.v, g.v_row(), kPanelWidth, g.v_stride()});
        });
        MultiplyTiles(g, buffers, u, count, g.out_channels(), split);
        split(count / g.area() * g.out.blocks, [&](int64_t first, int64_t last) {
          for (int64_t at = first; at < last; ++at) {
            const int64_t image = at / g.out.blocks, block = at % g.out.blocks;
            AddInputGradient(g, buffers.m, image, block,
                             dx + (begin / g.area() + image) * g.out.image + block * g.out_block());
          }
        });
      });
}

template <int64_t kTaps, int64_t kBlock>
void BackwardWeights(const Blocking<kTaps, kBlock>& g, const float* x, const float* dy, float* dw,
                     float* scratch) {
  // Tile blocks in flight accumulate in separate buffers; some threads may get no tile block.
  const bool separate = g.blocks_in_flight > 1;
  for (int64_t i = 0; separate && i < g.blocks_in_flight; ++i)
    std::fill_n(Buffers(g, scratch, i).u, kPoints * g.u_stride(), 0.0f);
  ForEachOcBlock(g, [&](int64_t channel, int64_t channels) {
    ForEachTileBlock(
        g, scratch, [&](int64_t begin, int64_t count, const Buffers& buffers, const auto& split) {
          // V of a single tile block is still there from the first output-channel block.
          if (channel == 0 || g.tile_blocks() > 1)
            split(count, [&](int64_t first, int64_t last) {
              TransformInput(g, x, begin, first, last, buffers.v);
            });
          split(count, [&](int64_t first, int64_t last) {
            TransformOutputGradient(g, g.out, dy, begin, first, last, channel, channels,
                                    {buffers.m, kPanelWidth, count * kPanelWidth, g.m_stride()});
          });
          MultiplyPoints({{buffers.v, 1, g.v_row()},
                          buffers.m,
                          count,
                          channels,
                          buffers.u,
                          g.oc_block,
                          separate || begin > 0},
                         g.v_stride(), g.m_stride(), g.u_stride(), g.in.channels, split);
        });
    ParallelFor(channels / kBlock * g.in.blocks, 1, [&](int64_t first, int64_t last) {
      for (int64_t at = first; at < last; ++at) {
        CollectWeightGradient(
            g, Buffers(g, scratch, 0).u, g.blocks_in_flight, g.buffer_floats(), at % g.in.blocks,
            at / g.in.blocks,
            dw + (channel / kBlock * g.in.blocks + at) * kTaps * kTaps * kBlock * kBlock);
      }
    });
  });
}

Plane PlaneOf(const BlockedConvShape& s, int64_t channels, int64_t h, int64_t w) {
  const int64_t blocks = ChannelBlocks(channels / s.groups, s.block);
  return {channels / s.groups, blocks, h, w, s.groups * blocks * h * w * s.block};
}
Plane InPlane(const BlockedConvShape& s) { return PlaneOf(s, s.in_channels, s.in_h, s.in_w); }
Plane OutPlane(const BlockedConvShape& s) { return PlaneOf(s, s.out_channels, s.out_h, s.out_w); }

// The blocking of each direction of one group; backward-data has two algorithms.
template <class B>
B ForwardBlocking(const BlockedConvShape& s) {
  return {InPlane(s), OutPlane(s), OutPlane(s), s.batch, s.pad_h, s.pad_w, omp_get_max_threads()};
}
template <class B>
B BackwardDataBlocking(const BlockedConvShape& s) {
  return {OutPlane(s),
          InPlane(s),
          InPlane(s),
          s.batch,
          s.kernel_h - 1 - s.pad_h,
          s.kernel_w - 1 - s.pad_w,
          omp_get_max_threads()};
}
template <class B>
B TransposedBlocking(const BlockedConvShape& s) {
  B blocking(OutPlane(s), InPlane(s), OutPlane(s), s.batch, s.pad_h, s.pad_w,
             omp_get_max_threads());
  blocking.AlignTileBlockToImages();
  return blocking;
}
// The transposed algorithm costs more per tile, since its results overlap.
template <class B>
bool FavoursTransposed(const BlockedConvShape& s) {
  const B blocking = TransposedBlocking<B>(s);
  return 3 * blocking.tiles < 2 * BackwardDataBlocking<B>(s).tiles && blocking.oc_blocks() == 1;
}

// Calls visit(x offset, y offset, weight offset, first output channel) for each group.
template <class Visit>
void ForEachGroup(const BlockedConvShape& s, const Visit& visit) {
  const Plane in = InPlane(s), out = OutPlane(s);
  const int64_t weights = in.blocks * out.blocks * s.kernel_h * s.kernel_w * s.block * s.block;
  for (int64_t g = 0; g < s.groups; ++g)
    visit(g * in.image / s.groups, g * out.image / s.groups, g * weights, g * out.channels);
}

// Calls run(std::type_identity<Blocking<taps, channel block>>).
template <class Run>
auto WithBlocking(const BlockedConvShape& s, const Run& run) {
  if (s.block == 8)
    return s.kernel_h == 3 ? run(std::type_identity<Blocking<3, 8>>())
                           : run(std::type_identity<Blocking<5, 8>>());
  return s.kernel_h == 3 ? run(std::type_identity<Blocking<3, 16>>())
                         : run(std::type_identity<Blocking<5, 16>>());
}

}  // namespace

bool HasWinograd(const BlockedConvShape& s) {
  const bool taps = s.kernel_h == s.kernel_w && (s.kernel_h == 3 || s.kernel_h == 5);
  const bool steps = s.stride_h == 1 && s.stride_w == 1 && s.dilation_h == 1 && s.dilation_w == 1;
  const bool borders = s.pad_h < s.kernel_h && s.pad_w < s.kernel_w;
  const bool blocks = s.groups == 1 || (s.in_channels / s.groups % s.block == 0 &&
                                        s.out_channels / s.groups % s.block == 0);
  return HasAvx2() && taps && steps && borders && !s.plain_in && blocks &&
         std::min(s.in_channels, s.out_channels) >= s.block;
}

bool FavoursWinograd(const BlockedConvShape& shape) {
  return HasWinograd(shape) && WithBlocking(shape, [&](auto type) {
           return ForwardBlocking<typename decltype(type)::type>(shape).tiles >= kFavouredTiles;
         });
}

int64_t WinogradScratch(const BlockedConvShape& shape) {
  const auto floats = [](const auto& blocking) {
    return blocking.blocks_in_flight * blocking.buffer_floats();
  };
  return WithBlocking(shape, [&](auto type) {
    using G = typename decltype(type)::type;
    return std::max(floats(ForwardBlocking<G>(shape)),
                    floats(FavoursTransposed<G>(shape) ? TransposedBlocking<G>(shape)
                                                       : BackwardDataBlocking<G>(shape)));
  });
}

void WinogradForward(const BlockedConvShape& shape, const float* x, const float* w,
                     const float* bias, bool relu, float* y, float* scratch) {
  WithBlocking(shape, [&](auto type) {
    const auto blocking = ForwardBlocking<typename decltype(type)::type>(shape);
    ForEachGroup(shape, [&](int64_t in, int64_t out, int64_t weight, int64_t channel) {
      Convolve(blocking, x + in, {w + weight, blocking.in.blocks},
               {bias == nullptr ? nullptr : bias + channel, relu}, y + out, scratch);
    });
  });
}

void WinogradBackwardData(const BlockedConvShape& shape, const float* dy, const float* w, float* dx,
                          float* scratch) {
  WithBlocking(shape, [&](auto type) {
    using G = typename decltype(type)::type;
    const bool transposed = FavoursTransposed<G>(shape);
    const G blocking = transposed ? TransposedBlocking<G>(shape) : BackwardDataBlocking<G>(shape);
    ForEachGroup(shape, [&](int64_t in, int64_t out, int64_t weight, int64_t) {
      if (transposed)
        TransposedConvolve(blocking, dy + out, {w + weight, blocking.out.blocks, true, false},
                           dx + in, scratch);
      else
        Convolve(blocking, dy + out, {w + weight, blocking.out.blocks, true, true}, {}, dx + in,
                 scratch);
    });
  });
}

void WinogradBackwardWeights(const BlockedConvShape& shape, const float* x, const float* dy,
                             float* dw, float* scratch) {
  WithBlocking(shape, [&](auto type) {
    const auto blocking = ForwardBlocking<typename decltype(type)::type>(shape);
    ForEachGroup(shape, [&](int64_t in, int64_t out, int64_t weight, int64_t) {
      BackwardWeights(blocking, x + in, dy + out, dw + weight, scratch);
    });
  });
}

}  // namespace tench::native
