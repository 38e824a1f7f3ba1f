// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/winograd/conv.h"

#include <type_traits>

#include "workers/native/kernels/cpu_features.h"
#include "workers/native/kernels/parallel.h"
#include "workers/native/kernels/winograd/tile_transform.h"

namespace tench::native {
namespace {

using namespace winograd;

constexpr int64_t kRowsAtOnce = 96;
constexpr int64_t kManyTiles = 24;  // at 16 it is as fast as the sum itself, at 32 twice as fast

// Where a lot's matrices are.
struct Room {
  float *tiles, *products, *kernels;

  template <int64_t kTaps, int64_t kBlock>
  Room(const Geometry<kTaps, kBlock>& g, float* scratch, int64_t worker)
      : tiles(scratch + worker * g.worker_floats()),
        products(tiles + kPoints * g.in_apart()),
        kernels(products + kPoints * g.out_apart()) {}
};

// How a lot's work is split: over all threads, or not at all.
struct Together {
  template <class Work>
  void operator()(int64_t count, const Work& work) const {
    ParallelFor(count, 1, work);
  }
};
struct Alone {
  template <class Work>
  void operator()(int64_t count, const Work& work) const {
    work(int64_t{0}, count);
  }
};

// Calls lot(first tile, tiles, room, split) for every lot.
template <int64_t kTaps, int64_t kBlock, class Lot>
void ForEachLot(const Geometry<kTaps, kBlock>& g, float* scratch, const Lot& lot) {
  const auto run = [&](int64_t index, const Room& room, const auto& split) {
    lot(index * g.tile_block, std::min(g.tile_block, g.tiles - index * g.tile_block), room, split);
  };
  if (g.workers == 1) {
    for (int64_t index = 0; index < g.lots(); ++index) run(index, Room(g, scratch, 0), Together());
    return;
  }
  ParallelFor(g.lots(), 1, [&](int64_t first, int64_t last) {
    for (int64_t index = first; index < last; ++index)
      run(index, Room(g, scratch, omp_get_thread_num()), Alone());
  });
}

// Calls slab(first channel, channels) for every slab.
template <int64_t kTaps, int64_t kBlock, class Slab>
void ForEachSlab(const Geometry<kTaps, kBlock>& g, const Slab& slab) {
  const int64_t channels = g.out_channels();
  for (int64_t channel = 0; channel < channels; channel += g.oc_block)
    slab(channel, std::min(g.oc_block, channels - channel));
}

// The 36 products, `rows` of each in pieces. `at` has the operands of the first, the others lie
// `a`, `b` and `c` floats apart.
template <class Split>
void MultiplyPoints(const PanelProduct& at, int64_t a, int64_t b, int64_t c, int64_t rows,
                    const Split& split) {
  const int64_t pieces = (rows + kRowsAtOnce - 1) / kRowsAtOnce;
  split(kPoints * pieces, [&](int64_t first, int64_t last) {
    for (int64_t item = first; item < last; ++item) {
      const int64_t point = item / pieces, row = item % pieces * kRowsAtOnce;
      PanelProduct product = at;
      product.a.data += point * a + row * at.a.row_stride;
      product.panels += point * b;
      product.c += point * c + row * at.c_stride;
      Multiply(product, std::min(kRowsAtOnce, rows - row), 0, PanelCount(at.columns));
    }
  });
}

// A lot's tiles times the kernels of a slab.
template <int64_t kTaps, int64_t kBlock, class Split>
void MultiplyTiles(const Geometry<kTaps, kBlock>& g, const Room& room, const float* kernels,
                   int64_t tiles, int64_t channels, const Split& split) {
  MultiplyPoints({{room.tiles, g.in_row(), 1},
                  kernels,
                  g.in.channels,
                  channels,
                  room.products,
                  g.out_row(),
                  false},
                 g.in_apart(), g.kernel_apart(), g.out_apart(), tiles, split);
}

template <int64_t kTaps, int64_t kBlock>
void TransformKernels(const Geometry<kTaps, kBlock>& g, const Weights& weights, int64_t channel,
                      int64_t channels, float* to) {
  ParallelFor(channels / kBlock * g.in.blocks, 1, [&](int64_t first, int64_t last) {
    for (int64_t at = first; at < last; ++at) {
      TransformKernel(g, weights, at % g.in.blocks, at / g.in.blocks,
                      channel / kBlock + at / g.in.blocks, to);
    }
  });
}

template <int64_t kTaps, int64_t kBlock>
void Convolve(const Geometry<kTaps, kBlock>& g, const float* in, const Weights& weights,
              const Finish& finish, float* out, float* scratch) {
  float* const kernels = Room(g, scratch, 0).kernels;  // of all workers
  const bool once = g.slabs() == 1;
  if (once) TransformKernels(g, weights, 0, g.out_channels(), kernels);
  ForEachLot(g, scratch, [&](int64_t begin, int64_t count, const Room& room, const auto& split) {
    split(count, [&](int64_t first, int64_t last) {
      TransformInput(g, in, begin, first, last, room.tiles);
    });
    ForEachSlab(g, [&](int64_t channel, int64_t channels) {
      if (!once) TransformKernels(g, weights, channel, channels, kernels);
      MultiplyTiles(g, room, kernels, count, channels, split);
      split(count, [&](int64_t first, int64_t last) {
        TransformOutput(g, room.products, begin, first, last, channel, channels, finish, out);
      });
    });
  });
}

// The gradient of the input as the transposed map of the forward pass, which has as many tiles as
// that: fewer than as a convolution where the image was not padded. One slab, lots of whole images.
template <int64_t kTaps, int64_t kBlock>
void TransposedConvolve(const Geometry<kTaps, kBlock>& g, const float* dy, const Weights& weights,
                        float* dx, float* scratch) {
  float* const kernels = Room(g, scratch, 0).kernels;
  TransformKernels(g, weights, 0, g.out_channels(), kernels);
  ForEachLot(g, scratch, [&](int64_t begin, int64_t count, const Room& room, const auto& split) {
    split(count, [&](int64_t first, int64_t last) {
      TransformGradient(g, g.in, dy, begin, first, last, 0, g.in_channels(),
                        {room.tiles, g.in_row(), kPanelWidth, g.in_apart()});
    });
    MultiplyTiles(g, room, kernels, count, g.out_channels(), split);
    split(count / g.area() * g.out.blocks, [&](int64_t first, int64_t last) {
      for (int64_t at = first; at < last; ++at) {
        const int64_t image = at / g.out.blocks, block = at % g.out.blocks;
        AddInputGradient(g, room.products, image, block,
                         dx + (begin / g.area() + image) * g.out.image + block * g.out_block());
      }
    });
  });
}

template <int64_t kTaps, int64_t kBlock>
void Gradient(const Geometry<kTaps, kBlock>& g, const float* x, const float* dy, float* dw,
              float* scratch) {
  // Workers have sums of their own, some perhaps no lot.
  const bool apart = g.workers > 1;
  for (int64_t worker = 0; apart && worker < g.workers; ++worker)
    std::fill_n(Room(g, scratch, worker).kernels, kPoints * g.kernel_apart(), 0.0f);
  ForEachSlab(g, [&](int64_t channel, int64_t channels) {
    ForEachLot(g, scratch, [&](int64_t begin, int64_t count, const Room& room, const auto& split) {
      // Those of a single lot are there since the first slab.
      if (channel == 0 || g.lots() > 1)
        split(count, [&](int64_t first, int64_t last) {
          TransformInput(g, x, begin, first, last, room.tiles);
        });
      split(count, [&](int64_t first, int64_t last) {
        TransformGradient(g, g.out, dy, begin, first, last, channel, channels,
                          {room.products, kPanelWidth, count * kPanelWidth, g.out_apart()});
      });
      MultiplyPoints({{room.tiles, 1, g.in_row()},
                      room.products,
                      count,
                      channels,
                      room.kernels,
                      g.oc_block,
                      apart || begin > 0},
                     g.in_apart(), g.out_apart(), g.kernel_apart(), g.in.channels, split);
    });
    ParallelFor(channels / kBlock * g.in.blocks, 1, [&](int64_t first, int64_t last) {
      for (int64_t at = first; at < last; ++at) {
        CollectKernel(g, Room(g, scratch, 0).kernels, g.workers, g.worker_floats(),
                      at % g.in.blocks, at / g.in.blocks,
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

// The three directions of a group's convolution, and the fourth way.
template <class Geometry>
Geometry Onward(const BlockedConvShape& s) {
  return {InPlane(s), OutPlane(s), OutPlane(s), s.batch, s.pad_h, s.pad_w, omp_get_max_threads()};
}
template <class Geometry>
Geometry Backward(const BlockedConvShape& s) {
  return {OutPlane(s),
          InPlane(s),
          InPlane(s),
          s.batch,
          s.kernel_h - 1 - s.pad_h,
          s.kernel_w - 1 - s.pad_w,
          omp_get_max_threads()};
}
template <class Geometry>
Geometry Transposed(const BlockedConvShape& s) {
  Geometry geometry(OutPlane(s), InPlane(s), OutPlane(s), s.batch, s.pad_h, s.pad_w,
                    omp_get_max_threads());
  geometry.LotsOfWholeImages();
  return geometry;
}
// Whether that is worth it: what overlaps costs more per tile.
template <class Geometry>
bool HasFewerTransposed(const BlockedConvShape& s) {
  const Geometry geometry = Transposed<Geometry>(s);
  return 3 * geometry.tiles < 2 * Backward<Geometry>(s).tiles && geometry.slabs() == 1;
}

// Calls visit(x offset, y offset, weight offset, first output channel) for each group.
template <class Visit>
void ForEachGroup(const BlockedConvShape& s, const Visit& visit) {
  const Plane in = InPlane(s), out = OutPlane(s);
  const int64_t weights = in.blocks * out.blocks * s.kernel_h * s.kernel_w * s.block * s.block;
  for (int64_t g = 0; g < s.groups; ++g)
    visit(g * in.image / s.groups, g * out.image / s.groups, g * weights, g * out.channels);
}

// Calls run(std::type_identity<Geometry>) with the geometry of the kernel's taps and the image's
// blocks.
template <class Run>
auto WithGeometry(const BlockedConvShape& s, const Run& run) {
  if (s.block == 8)
    return s.kernel_h == 3 ? run(std::type_identity<Geometry<3, 8>>())
                           : run(std::type_identity<Geometry<5, 8>>());
  return s.kernel_h == 3 ? run(std::type_identity<Geometry<3, 16>>())
                         : run(std::type_identity<Geometry<5, 16>>());
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
  return HasWinograd(shape) && WithGeometry(shape, [&](auto type) {
           return Onward<typename decltype(type)::type>(shape).tiles >= kManyTiles;
         });
}

int64_t WinogradScratch(const BlockedConvShape& shape) {
  const auto floats = [](const auto& geometry) {
    return geometry.workers * geometry.worker_floats();
  };
  return WithGeometry(shape, [&](auto type) {
    using G = typename decltype(type)::type;
    return std::max(
        floats(Onward<G>(shape)),
        floats(HasFewerTransposed<G>(shape) ? Transposed<G>(shape) : Backward<G>(shape)));
  });
}

void WinogradForward(const BlockedConvShape& shape, const float* x, const float* w,
                     const float* bias, bool relu, float* y, float* scratch) {
  WithGeometry(shape, [&](auto type) {
    const auto geometry = Onward<typename decltype(type)::type>(shape);
    ForEachGroup(shape, [&](int64_t in, int64_t out, int64_t weight, int64_t channel) {
      Convolve(geometry, x + in, {w + weight, geometry.in.blocks},
               {bias == nullptr ? nullptr : bias + channel, relu}, y + out, scratch);
    });
  });
}

void WinogradBackwardData(const BlockedConvShape& shape, const float* dy, const float* w, float* dx,
                          float* scratch) {
  WithGeometry(shape, [&](auto type) {
    using G = typename decltype(type)::type;
    const bool transposed = HasFewerTransposed<G>(shape);
    const G geometry = transposed ? Transposed<G>(shape) : Backward<G>(shape);
    ForEachGroup(shape, [&](int64_t in, int64_t out, int64_t weight, int64_t) {
      if (transposed)
        TransposedConvolve(geometry, dy + out, {w + weight, geometry.out.blocks, true, false},
                           dx + in, scratch);
      else
        Convolve(geometry, dy + out, {w + weight, geometry.out.blocks, true, true}, {}, dx + in,
                 scratch);
    });
  });
}

void WinogradBackwardWeights(const BlockedConvShape& shape, const float* x, const float* dy,
                             float* dw, float* scratch) {
  WithGeometry(shape, [&](auto type) {
    const auto geometry = Onward<typename decltype(type)::type>(shape);
    ForEachGroup(shape, [&](int64_t in, int64_t out, int64_t weight, int64_t) {
      Gradient(geometry, x + in, dy + out, dw + weight, scratch);
    });
  });
}

}  // namespace tench::native
