// Goal:   ranks whose models or weights differ are named, on every rank, with the first tensor that
//         does; equal ones pass.
// Method: three ranks as threads with lists of tensors of their own.

#include "trireme/parallel/sameness.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/base/error.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel {
namespace {

using Tensors = std::vector<Parameter>;

// Ranks of a job of which these are every tenth.
void expect_values(const comm::Group& group, const Tensors& tensors) {
  expect_same_values(group, tensors, 10 * group.rank());
}

Tensors tensors_of_a_model() {
  return {{.name = "a", .tensor = torch::ones({2, 3})},
          {.name = "empty", .tensor = torch::ones({0})},
          {.name = "b", .tensor = torch::arange(7).to(torch::kFloat)}};
}

// What all three ranks are told when one of them has changed its tensors; "" where all is well.
std::string told(const std::function<void(Tensors&)>& change,
                 void (*expect)(const comm::Group&, const Tensors&)) {
  const std::vector<comm::Group> groups = comm::connect_threads(3);
  std::vector<std::string> texts(3);
  testing::run_rank_threads(3, [&](int rank) {
    Tensors tensors = tensors_of_a_model();
    if (rank == 2) change(tensors);
    try {
      expect(groups[static_cast<std::size_t>(rank)], tensors);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Mismatch);
      texts[static_cast<std::size_t>(rank)] = error.what();
    }
  });
  EXPECT_EQ(texts[0].empty(), texts[2].empty());
  EXPECT_EQ(texts[0], texts[1]);
  return texts[0];
}

TEST(Sameness, EqualModelsPass) {
  EXPECT_EQ(told([](Tensors&) {}, expect_same_parameters), "");
  EXPECT_EQ(told([](Tensors&) {}, expect_values), "");
  // Not a matter of memory: the same numbers in another order of storage.
  const auto strided = [](Tensors& all) { all[0].tensor = torch::ones({3, 2}).t(); };
  EXPECT_EQ(told(strided, expect_same_parameters), "");
  EXPECT_EQ(told(strided, expect_values), "");
}

TEST(Sameness, AnotherModelIsNamed) {
  const auto said = [](const std::function<void(Tensors&)>& change) {
    return told(change, expect_same_parameters);
  };
  EXPECT_NE(said([](Tensors& all) { all[2].tensor = torch::ones({8}); }).find("b, Float [7]"),
            std::string::npos);
  EXPECT_NE(said([](Tensors& all) { all[2].name = "c"; }).find("ranks 0 and 2"), std::string::npos);
  EXPECT_NE(said([](Tensors& all) {
              all[0].tensor = all[0].tensor.to(torch::kDouble);
            }).find("trained tensor 0"),
            std::string::npos);
  EXPECT_NE(said([](Tensors& all) { all.pop_back(); }).find("model of 2 trained tensors"),
            std::string::npos);
}

TEST(Sameness, DriftIsNamed) {
  const std::string text = told([](Tensors& all) { all[2].tensor[6] += 1e-6; }, expect_values);
  EXPECT_NE(text.find("rank 20 have drifted from rank 0's"), std::string::npos) << text;
  EXPECT_NE(text.find("first in b"), std::string::npos) << text;
}

}  // namespace
}  // namespace trireme::parallel
