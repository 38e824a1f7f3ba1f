// SPDX-License-Identifier: Apache-2.0
#pragma once
// Networks that together contain every op and run within milliseconds.

#include <vector>

#include "net/graph.h"

namespace tench {

Graph SmallLenet();  // convolution, max pooling, dense layers, ReLU
// Groups, dilation, LRN, batch norm, add, concat, average and global pooling, dropout, an auxiliary
// head.
Graph SmallBranches();
Graph SmallLstm();         // embedding, LSTM, mean over time
Graph SmallAutoencoder();  // sigmoid, tanh, sigmoid cross-entropy and mean squared error
// Further ops of Caffe's networks: leaky ReLU, LRN within a channel, separate batch norm and scale,
// weighted sums, products, maxima, slices, softmax, powers, reshape, ignored labels.
Graph SmallCaffe();

std::vector<Graph> SmallNetworks();

// One network of several, side by side: layer "fc" of the network "small_lstm" is "small_lstm/fc".
// Its loss is the sum of theirs.
Graph SideBySide(const std::vector<Graph>& networks);

}  // namespace tench
