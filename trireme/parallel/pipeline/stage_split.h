// split_into_stages() divides the blocks of a model into the stages of a pipeline.
//
//   Parameters   the largest stage has as few parameters as possible; of such splits, the most even
//   Layers       stages have the same number of layers, or one more. Blocks with one path
//   (attention
//                and mlp of a transformer layer) are a layer, and an embedding and a head are, too
//   points       a stage begins at each of these paths
//
// Thread safety: values and pure functions.
// Errors:        InvalidInput if the model has too few blocks or layers, and for points that do not
//                exist, are not in order, or are not one less than the stages.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trireme/model/block_range.h"

namespace trireme::parallel::pipeline {

enum class SplitBy : std::uint8_t { Parameters, Layers };

struct StageSplit {
  SplitBy by = SplitBy::Parameters;
  std::vector<std::string> points{};  // paths; if there are any, `by` is not used
};

struct BlockSize {
  std::string path;
  std::int64_t parameters = 0;  // with tied ones, which each stage that reads them holds
};

// By stage. Each has at least one block.
std::vector<model::BlockRange> split_into_stages(const std::vector<BlockSize>& blocks, int stages,
                                                 const StageSplit& split);

}  // namespace trireme::parallel::pipeline
