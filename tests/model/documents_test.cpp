// Goal:   tokens attend only within their own document if documents are separated.
// Method: rows by hand; a gpt whose outputs for the second document do not change with the first.

#include "trireme/model/documents.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/model/kind/gpt.h"

namespace trireme::model {
namespace {

TEST(DocumentsInAWindow, EndWithTheirLastToken) {
  const at::Tensor tokens = torch::tensor({{5, 9, 9, 5}, {5, 5, 5, 9}}, torch::kLong);
  EXPECT_TRUE(
      documents_in(tokens, 9).equal(torch::tensor({{0, 0, 1, 2}, {0, 0, 0, 0}}, torch::kLong)));
  EXPECT_FALSE(documents_in(tokens, data::Form{}).defined());
  EXPECT_TRUE(documents_in(tokens, data::Form{.document_end = 9}).defined());
}

TEST(DocumentsInAWindow, DoNotSeeEachOther) {
  Gpt gpt({.vocabulary = 11, .context = 6, .width = 16, .layers = 2, .heads = 2}, {});
  initialize(gpt, 1);
  const torch::NoGradGuard no_grad;
  const auto answer = [&](std::int64_t first, bool is_apart) {
    const at::Tensor tokens = torch::tensor({{first, 3L, 9L, 4L, 5L, 6L}}, torch::kLong);
    const Context context{.documents = is_apart ? documents_in(tokens, 9) : at::Tensor()};
    return gpt.forward(tokens, context).slice(1, 3);
  };
  EXPECT_TRUE(answer(1, true).equal(answer(2, true)));
  EXPECT_FALSE(answer(1, false).equal(answer(2, false)));
}

}  // namespace
}  // namespace trireme::model
