// Goal:   if models or weights differ, every rank reports the rank and the first tensor that
//         differ; equal models pass.
// Method: three ranks as threads, each with its own list of tensors.

#include "trireme/parallel/consistency.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/base/error.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel {
namespace {

using Tensors = std::vector<Parameter>;

// Errors give ranks in the whole job, of which these ranks are every tenth.
void expect_values(const comm::Group& group, const Tensors& tensors) {
  expect_same_values(group, tensors, 10 * group.rank());
}

Tensors tensors_of_a_model() {
  return {{.name = "a", .tensor = torch::ones({2, 3})},
          {.name = "empty", .tensor = torch::ones({0})},
          {.name = "b", .tensor = torch::arange(7).to(torch::kFloat)}};
}

// The error on all three ranks after rank 2 has changed its tensors; "" if there is none.
std::string error_after(const std::function<void(Tensors&)>& change,
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
  EXPECT_EQ(error_after([](Tensors&) {}, expect_same_parameters), "");
  EXPECT_EQ(error_after([](Tensors&) {}, expect_values), "");
  // Equal values with different strides are the same.
  const auto strided = [](Tensors& all) { all[0].tensor = torch::ones({3, 2}).t(); };
  EXPECT_EQ(error_after(strided, expect_same_parameters), "");
  EXPECT_EQ(error_after(strided, expect_values), "");
}

TEST(Sameness, DifferentModelsAreReported) {
  const auto text_after = [](const std::function<void(Tensors&)>& change) {
    return error_after(change, expect_same_parameters);
  };
  EXPECT_NE(text_after([](Tensors& all) { all[2].tensor = torch::ones({8}); }).find("b, Float [7]"),
            std::string::npos);
  EXPECT_NE(text_after([](Tensors& all) { all[2].name = "c"; }).find("ranks 0 and 2"),
            std::string::npos);
  EXPECT_NE(text_after([](Tensors& all) {
              all[0].tensor = all[0].tensor.to(torch::kDouble);
            }).find("trained tensor 0"),
            std::string::npos);
  EXPECT_NE(text_after([](Tensors& all) { all.pop_back(); }).find("model of 2 trained tensors"),
            std::string::npos);
}

TEST(Sameness, DriftedWeightsAreReported) {
  const std::string text =
      error_after([](Tensors& all) { all[2].tensor[6] += 1e-6; }, expect_values);
  EXPECT_NE(text.find("rank 20 have drifted from rank 0's"), std::string::npos) << text;
  EXPECT_NE(text.find("first in b"), std::string::npos) << text;
}

}  // namespace
}  // namespace trireme::parallel
