// SPDX-License-Identifier: Apache-2.0
#pragma once
// Networks that hold every op between them and take a worker milliseconds.

#include <vector>

#include "net/graph.h"

namespace tench {

Graph SmallLenet();        // convolution, max pooling, dense layers, ReLU
Graph SmallBranches();     // groups, dilation, LRN, batch norm, add, concat, average and global pooling, dropout, an
                           // auxiliary head
Graph SmallLstm();         // embedding, LSTM, mean over time
Graph SmallAutoencoder();  // sigmoid, tanh, sigmoid cross-entropy and mean squared error

std::vector<Graph> SmallNetworks();

}  // namespace tench
