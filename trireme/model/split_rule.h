// SplitRule says how tensor parallelism cuts the weight of a layer over ranks. A model lists its
// rules (Model::split_rules()); a program that trains a model of its own can give other ones.
//
//   {.layers = "transformer.h.*.attn.c_attn", .cut = SplitRule::Cut::Outputs,
//    .unit = head_dim, .parts = 3, .what = "num_heads"}
//
// Outputs is column parallelism and Inputs is row parallelism, as Megatron and DTensor call them:
// a layer whose outputs are cut is followed by one whose inputs are cut in the same units, and only
// the second one communicates in the forward pass.
//
// Thread safety: a value.

#pragma once

#include <cstdint>
#include <string>

namespace trireme::model {

struct SplitRule {
  enum class Cut {
    Outputs,     // of a Linear: each rank computes a part of them
    Inputs,      // of a Linear: each rank has a part of them; the results are summed
    Vocabulary,  // the rows of an Embedding, or the logits of the last Linear
  };

  std::string layers;  // their names, with * for any text
  Cut cut = Cut::Outputs;
  std::int64_t unit = 1;  // neighbours that stay together: the width of a head
  // The dimension consists of this number of equal parts, and each of them is cut: 3 for fused
  // queries, keys and values.
  std::int64_t parts = 1;
  // The setting that counts the units, which must be divisible by the number of ranks; empty: any
  // number of units is cut as evenly as possible.
  std::string what{};
};

}  // namespace trireme::model
