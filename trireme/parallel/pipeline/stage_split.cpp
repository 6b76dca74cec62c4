#include "trireme/parallel/pipeline/stage_split.h"

#include <algorithm>
#include <limits>

#include "trireme/base/error.h"

namespace trireme::parallel::pipeline {
namespace {

using model::BlockRange;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::InvalidInput, why);
}

std::vector<BlockRange> layers_of(const std::vector<BlockSize>& blocks) {
  std::vector<BlockRange> layers;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool is_new = i == 0 || blocks[i].path != blocks[i - 1].path;
    if (is_new) layers.push_back({i, i});
    layers.back().end = i + 1;
  }
  return layers;
}

void expect_enough(std::size_t count, int stages, const char* what) {
  if (count >= static_cast<std::size_t>(stages)) return;
  refuse("a model of " + std::to_string(count) + " " + what + " cannot be split into " +
         std::to_string(stages) + " stages; use a smaller parallel.pipe or fewer stages per rank");
}

std::vector<BlockRange> ranges_at(const std::vector<std::size_t>& begins, std::size_t blocks) {
  std::vector<BlockRange> ranges;
  for (std::size_t s = 0; s < begins.size(); ++s) {
    ranges.push_back({begins[s], s + 1 < begins.size() ? begins[s + 1] : blocks});
  }
  return ranges;
}

std::vector<BlockRange> split_by_layers(const std::vector<BlockSize>& blocks, int stages) {
  const std::vector<BlockRange> layers = layers_of(blocks);
  expect_enough(layers.size(), stages, "layers");
  std::vector<std::size_t> begins;
  for (std::size_t s = 0; s < static_cast<std::size_t>(stages); ++s) {
    begins.push_back(layers[s * layers.size() / static_cast<std::size_t>(stages)].begin);
  }
  return ranges_at(begins, blocks.size());
}

// The cheapest division of blocks into stages, where a stage costs what `cost` says of its sum, and
// stages cost the combination of their costs.
class Partition {
 public:
  Partition(const std::vector<BlockSize>& blocks, int stages)
      : sums_{0}, stages_(static_cast<std::size_t>(stages)) {
    for (const BlockSize& block : blocks) {
      sums_.push_back(sums_.back() + static_cast<double>(block.parameters));
    }
  }

  struct Best {
    double cost = 0;
    std::vector<std::size_t> begins;
  };

  template <class Cost, class Combine>
  Best best(const Cost& cost, const Combine& combine) const {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    const std::size_t blocks = sums_.size() - 1;
    // [s][n]: the first n blocks in s + 1 stages.
    std::vector<std::vector<double>> costs(stages_, std::vector<double>(blocks + 1, kNone));
    std::vector<std::vector<std::size_t>> from(stages_, std::vector<std::size_t>(blocks + 1));
    for (std::size_t n = 1; n <= blocks; ++n) costs[0][n] = cost(sums_[n]);
    for (std::size_t s = 1; s < stages_; ++s) {
      for (std::size_t n = s + 1; n <= blocks; ++n) {
        for (std::size_t b = s; b < n; ++b) {
          const double all = combine(costs[s - 1][b], cost(sums_[n] - sums_[b]));
          if (all >= costs[s][n]) continue;
          costs[s][n] = all;
          from[s][n] = b;
        }
      }
    }
    Best found{.cost = costs[stages_ - 1][blocks], .begins = {}};
    std::size_t end = blocks;
    for (std::size_t s = stages_; s-- > 0;) {
      end = s == 0 ? 0 : from[s][end];
      found.begins.insert(found.begins.begin(), end);
    }
    return found;
  }

 private:
  std::vector<double> sums_;  // of the blocks before
  std::size_t stages_;
};

std::vector<BlockRange> split_by_parameters(const std::vector<BlockSize>& blocks, int stages) {
  expect_enough(blocks.size(), stages, "blocks");
  const Partition partition(blocks, stages);
  const double largest =
      partition
          .best([](double sum) { return sum; }, [](double a, double b) { return std::max(a, b); })
          .cost;
  const auto even = partition.best(
      [largest](double sum) {
        return sum > largest ? std::numeric_limits<double>::infinity() : sum * sum;
      },
      [](double a, double b) { return a + b; });
  return ranges_at(even.begins, blocks.size());
}

std::vector<BlockRange> split_at(const std::vector<BlockSize>& blocks, int stages,
                                 const std::vector<std::string>& points) {
  if (points.size() + 1 != static_cast<std::size_t>(stages)) {
    refuse("parallel.split_points has " + std::to_string(points.size()) + " paths, but " +
           std::to_string(stages) + " stages begin at " + std::to_string(stages - 1) +
           " of them, all but the first; name that many");
  }
  std::vector<std::size_t> begins{0};
  for (const std::string& point : points) {
    const auto found = std::ranges::find(blocks, point, &BlockSize::path);
    if (found == blocks.end()) {
      std::string paths;
      for (const BlockRange& layer : layers_of(blocks)) {
        paths += (layer.begin == 0 ? "\"" : ", \"") + blocks[layer.begin].path + "\"";
      }
      refuse("parallel.split_points: the model has no block \"" + point + "\"; it has " + paths);
    }
    const auto index = static_cast<std::size_t>(found - blocks.begin());
    if (index <= begins.back()) {
      refuse("parallel.split_points: \"" + point +
             "\" is not behind the block at which the stage before it begins; list paths in the "
             "order of the model, without the first");
    }
    begins.push_back(index);
  }
  return ranges_at(begins, blocks.size());
}

}  // namespace

std::vector<BlockRange> split_into_stages(const std::vector<BlockSize>& blocks, int stages,
                                          const StageSplit& split) {
  if (!split.points.empty()) return split_at(blocks, stages, split.points);
  if (split.by == SplitBy::Layers) return split_by_layers(blocks, stages);
  return split_by_parameters(blocks, stages);
}

}  // namespace trireme::parallel::pipeline
