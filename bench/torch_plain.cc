// SPDX-License-Identifier: Apache-2.0
// A hand-written C++ training loop: LeNet or AlexNet of torch::nn modules, trained on one resident
// batch, each step timed. It uses no code of tench; bench/harness_cost compares the torch worker
// with it.
//   bench_torch_plain lenet|alexnet BATCH THREADS default|channels_last WARMUP STEPS
// Prints the median step, the shortest step and every step's time in milliseconds.
#include <ATen/ops/_fused_sgd.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using torch::nn::Conv2d;
using torch::nn::Conv2dOptions;
using torch::nn::Dropout;
using torch::nn::Flatten;
using torch::nn::Linear;
using torch::nn::LocalResponseNorm;
using torch::nn::LocalResponseNormOptions;
using torch::nn::MaxPool2d;
using torch::nn::MaxPool2dOptions;
using torch::nn::ReLU;
using torch::nn::ReLUOptions;
using torch::nn::Sequential;

ReLU InplaceRelu() { return ReLU(ReLUOptions(true)); }
LocalResponseNorm Norm() {
  return LocalResponseNorm(LocalResponseNormOptions(5).alpha(1e-4).beta(0.75).k(1));
}
MaxPool2d CaffePool() { return MaxPool2d(MaxPool2dOptions(3).stride(2).ceil_mode(true)); }

Sequential Lenet() {
  return Sequential(Conv2d(Conv2dOptions(1, 20, 5)), MaxPool2d(MaxPool2dOptions(2).stride(2)),
                    Conv2d(Conv2dOptions(20, 50, 5)), MaxPool2d(MaxPool2dOptions(2).stride(2)),
                    Flatten(), Linear(800, 500), InplaceRelu(), Linear(500, 10));
}

Sequential Alexnet() {
  return Sequential(Conv2d(Conv2dOptions(3, 96, 11).stride(4)), InplaceRelu(), Norm(), CaffePool(),
                    Conv2d(Conv2dOptions(96, 256, 5).padding(2).groups(2)), InplaceRelu(), Norm(),
                    CaffePool(), Conv2d(Conv2dOptions(256, 384, 3).padding(1)), InplaceRelu(),
                    Conv2d(Conv2dOptions(384, 384, 3).padding(1).groups(2)), InplaceRelu(),
                    Conv2d(Conv2dOptions(384, 256, 3).padding(1).groups(2)), InplaceRelu(),
                    CaffePool(), Flatten(), Linear(9216, 4096), InplaceRelu(), Dropout(0.5),
                    Linear(4096, 4096), InplaceRelu(), Dropout(0.5), Linear(4096, 1000));
}

// Weights and biases are separate, because biases have twice the learning rate in these networks;
// each has its momentum buffers.
struct Group {
  double rate = 0.01, decay = 0.0005;
  std::vector<torch::Tensor> parameters, momenta;

  void Add(const torch::Tensor& parameter) {
    parameters.push_back(parameter);
    momenta.push_back(torch::zeros_like(parameter.detach()));
  }

  void Step() const {
    torch::NoGradGuard no_grad;
    std::vector<torch::Tensor> gradients;
    for (const torch::Tensor& parameter : parameters) gradients.push_back(parameter.grad());
    at::_fused_sgd_(parameters, gradients, momenta, decay, 0.9, rate, 0, false, false, false);
  }
};

double OneStep(Sequential& network, const torch::Tensor& data, const torch::Tensor& labels,
               const std::vector<Group>& groups) {
  network->zero_grad(/*set_to_none=*/true);
  const torch::Tensor loss = torch::nn::functional::cross_entropy(network->forward(data), labels);
  loss.backward();
  for (const Group& group : groups) group.Step();
  return loss.item<double>();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr,
                 "usage: %s lenet|alexnet BATCH THREADS default|channels_last WARMUP STEPS\n",
                 argv[0]);
    return 2;
  }
  const bool lenet = std::string(argv[1]) == "lenet";
  const long batch = std::stol(argv[2]), warmup = std::stol(argv[5]), steps = std::stol(argv[6]);
  torch::set_num_threads(std::stoi(argv[3]));
  torch::set_num_interop_threads(1);
  torch::manual_seed(1);
  const bool channels_last = std::string(argv[4]) == "channels_last";
  const auto format =
      channels_last ? torch::MemoryFormat::ChannelsLast : torch::MemoryFormat::Contiguous;

  Sequential network = lenet ? Lenet() : Alexnet();
  torch::Tensor data =
      lenet ? torch::randn({batch, 1, 28, 28}) : torch::randn({batch, 3, 227, 227});
  data = torch::empty(data.sizes(), data.options(), format).copy_(data);
  const torch::Tensor labels = torch::randint(lenet ? 10 : 1000, {batch}, torch::kLong);
  std::vector<Group> groups = {{0.01, 0.0005, {}, {}}, {0.02, lenet ? 0.0005 : 0.0, {}, {}}};
  for (torch::Tensor& parameter : network->parameters()) {
    if (parameter.dim() == 4)
      parameter.set_data(
          torch::empty(parameter.sizes(), parameter.options().requires_grad(false), format)
              .copy_(parameter.detach()));
    groups[parameter.dim() == 1 ? 1 : 0].Add(parameter);
  }

  std::vector<double> times_ms;
  for (long step = 0; step < warmup + steps; ++step) {
    const auto start = std::chrono::steady_clock::now();
    OneStep(network, data, labels, groups);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (step >= warmup) times_ms.push_back(took.count());
  }
  std::vector<double> sorted = times_ms;
  std::sort(sorted.begin(), sorted.end());
  std::printf("median_ms %.4f shortest_ms %.4f steps", sorted[sorted.size() / 2], sorted.front());
  for (const double time_ms : times_ms) std::printf(" %.3f", time_ms);
  std::printf("\n");
}
