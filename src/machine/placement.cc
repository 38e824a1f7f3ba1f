// SPDX-License-Identifier: Apache-2.0
#include "machine/placement.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/text.h"
#include "machine/affinity.h"
#include "machine/system_file.h"

namespace tench {
namespace {

namespace fs = std::filesystem;

std::vector<int> CpuListIn(const fs::path& file) {
  const Result<std::vector<int>> cpus = ParseCpuList(ReadSystemFile(file).value_or(""));
  return cpus.ok() ? *cpus : std::vector<int>();
}

std::map<int, int> NodesOfCpus(const fs::path& root) {
  std::map<int, int> nodes;
  const fs::path folder = root / "sys/devices/system/node";
  for (const std::string& name : ListFolder(folder)) {
    if (!name.starts_with("node")) continue;
    const Result<int64_t> node = ParseInteger(std::string_view(name).substr(4));
    if (!node.ok()) continue;
    for (const int cpu : CpuListIn(folder / name / "cpulist")) nodes[cpu] = static_cast<int>(*node);
  }
  return nodes;
}

std::vector<CpuPlace> OfNode(const std::vector<CpuPlace>& topology, int node) {
  std::vector<CpuPlace> own;
  for (const CpuPlace& place : topology) {
    if (place.node == node) own.push_back(place);
  }
  return own;
}

std::set<int> NodesOf(const std::vector<CpuPlace>& topology) {
  std::set<int> nodes;
  for (const CpuPlace& place : topology) nodes.insert(place.node);
  return nodes;
}

bool CoresFirst(const CpuPlace& a, const CpuPlace& b) {
  return std::tie(a.sibling, a.cpu) < std::tie(b.sibling, b.cpu);
}

// The first CPU of each core before the second of any; among these one of every node in turn.
std::vector<CpuPlace> Spread(std::vector<CpuPlace> topology) {
  std::sort(topology.begin(), topology.end(), CoresFirst);
  std::map<std::pair<int, int>, int> used;  // by sibling and node
  std::vector<std::tuple<int, int, int, CpuPlace>> keyed;
  for (const CpuPlace& place : topology)
    keyed.emplace_back(place.sibling, used[{place.sibling, place.node}]++, place.node, place);
  std::sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a), std::get<2>(a)) <
           std::tie(std::get<0>(b), std::get<1>(b), std::get<2>(b));
  });
  std::vector<CpuPlace> order;
  for (const auto& each : keyed) order.push_back(std::get<3>(each));
  return order;
}

// Whole nodes, the largest first, so that the threads use the fewest nodes.
std::vector<CpuPlace> Compact(const std::vector<CpuPlace>& topology, size_t threads) {
  std::vector<std::vector<CpuPlace>> nodes;
  for (const int node : NodesOf(topology)) {
    nodes.push_back(OfNode(topology, node));
    std::sort(nodes.back().begin(), nodes.back().end(), CoresFirst);
  }
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<CpuPlace> order;
  for (const std::vector<CpuPlace>& node : nodes) {
    if (order.size() >= threads) break;
    order.insert(order.end(), node.begin(), node.end());
  }
  return order;
}

}  // namespace

std::vector<CpuPlace> ReadTopology(const std::vector<int>& cpus, const fs::path& root) {
  const std::map<int, int> nodes = NodesOfCpus(root);
  std::vector<CpuPlace> topology;
  for (const int cpu : cpus) {
    CpuPlace place{cpu, 0, cpu, 0};
    if (const auto node = nodes.find(cpu); node != nodes.end()) place.node = node->second;
    const fs::path folder =
        root / "sys/devices/system/cpu" / fmt::format("cpu{}", cpu) / "topology";
    const std::vector<int> siblings = CpuListIn(folder / "thread_siblings_list");
    if (const auto own = std::find(siblings.begin(), siblings.end(), cpu); own != siblings.end()) {
      place.core = siblings.front();
      place.sibling = static_cast<int>(own - siblings.begin());
    }
    topology.push_back(place);
  }
  return topology;
}

size_t PlaceableCpus(const std::vector<CpuPlace>& topology, const PlacementName& placement) {
  return placement.kind == PlacementName::Kind::kNode ? OfNode(topology, placement.node).size()
                                                      : topology.size();
}

Result<std::vector<int>> PlaceThreads(const std::vector<CpuPlace>& topology,
                                      const PlacementName& placement, int64_t threads) {
  const size_t offered = PlaceableCpus(topology, placement);
  const auto count = static_cast<size_t>(std::max<int64_t>(threads, 0));
  if (offered == 0 && placement.kind == PlacementName::Kind::kNode) {
    const std::set<int> nodes = NodesOf(topology);
    return Unsupported("placement {}: this process may use no CPU of that NUMA node (nodes: {})",
                       ToString(placement),
                       PrintCpuList(std::vector<int>(nodes.begin(), nodes.end())));
  }
  if (count > offered && placement.kind == PlacementName::Kind::kNode)
    return Unsupported("{} threads were requested, but placement {} offers only {} CPUs", threads,
                       ToString(placement), offered);
  if (count > offered)
    return Unsupported("{} threads were requested, but this process may use only {} CPUs", threads,
                       offered);
  std::vector<CpuPlace> order = topology;
  switch (placement.kind) {
    case PlacementName::Kind::kFirst:
      break;
    case PlacementName::Kind::kSpread:
      order = Spread(std::move(order));
      break;
    case PlacementName::Kind::kCompact:
      order = Compact(topology, count);
      break;
    case PlacementName::Kind::kNode:
      order = OfNode(topology, placement.node);
      std::sort(order.begin(), order.end(), CoresFirst);
      break;
  }
  std::vector<int> cpus;
  for (size_t i = 0; i < count; ++i) cpus.push_back(order[i].cpu);
  std::sort(cpus.begin(), cpus.end());
  return cpus;
}

Json PlacementToJson(const std::vector<CpuPlace>& topology, const std::vector<int>& cpus) {
  std::set<int> nodes, cores;
  for (const CpuPlace& place : topology) {
    if (std::find(cpus.begin(), cpus.end(), place.cpu) == cpus.end()) continue;
    nodes.insert(place.node);
    cores.insert(place.core);
  }
  return {{"cpus", PrintCpuList(cpus)},
          {"nodes", PrintCpuList(std::vector<int>(nodes.begin(), nodes.end()))},
          {"cores", cores.size()},
          {"smt", cores.size() < cpus.size()}};
}

}  // namespace tench
