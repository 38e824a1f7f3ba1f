// SPDX-License-Identifier: Apache-2.0
#pragma once
// Networks that together contain every op and run within milliseconds.

#include <vector>

#include "net/graph.h"

namespace tench {

Graph SmallLenet();        // convolution, max pooling, dense layers, ReLU
Graph SmallBranches();     // groups, dilation, LRN, batch norm, add, concat, average and global
                           // pooling, dropout, an auxiliary head
Graph SmallLstm();         // embedding, LSTM, mean over time
Graph SmallAutoencoder();  // sigmoid, tanh, sigmoid cross-entropy and mean squared error
Graph SmallCaffe();  // what Caffe's networks need beyond that: leaky ReLU, LRN within a channel,
                     // batch norm and scale apart, weighted sums, products, maxima, slices,
                     // softmax, powers, reshape, labels that do not count

std::vector<Graph> SmallNetworks();

}  // namespace tench
