// Goal:   a GPT-2 checkpoint of Hugging Face's gives Hugging Face's logits in our gpt.
// Method: tests/model/gpt2_fixture.safetensors, made by tests/model/make_gpt2_fixture.py with
//         `transformers`, holds random weights, tokens and logits; published() says what lies
//         transposed.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cstring>
#include <map>

#include "tests/folders.h"
#include "trireme/base/file.h"
#include "trireme/checkpoint/format/safetensors.h"
#include "trireme/model/gpt.h"

namespace trireme::model {
namespace {

std::map<std::string, at::Tensor> read_all(const std::string& path) {
  const std::string bytes = read_file(path);
  const auto header = checkpoint::format::parse_header(bytes, bytes.size(), path);
  std::map<std::string, at::Tensor> all;
  for (const auto& entry : header.entries) {
    const bool is_tokens = entry.dtype == checkpoint::format::DType::I64;
    at::Tensor tensor = torch::empty(entry.sizes, is_tokens ? at::kLong : at::kFloat);
    EXPECT_EQ(tensor.nbytes(), entry.size) << entry.name;
    std::memcpy(tensor.data_ptr(), bytes.data() + header.data_begin + entry.begin, tensor.nbytes());
    all[entry.name] = tensor;
  }
  return all;
}

TEST(ModelGpt2, LogitsAreHuggingFaces) {
  auto all = read_all(source_folder() + "/tests/model/gpt2_fixture.safetensors");
  Gpt gpt({.vocabulary = 23, .context = 16, .width = 24, .layers = 2, .heads = 3}, {});
  const torch::NoGradGuard no_grad;
  for (const auto& item : gpt.named_parameters()) {
    const Published published = gpt.published(item.key());
    ASSERT_TRUE(all.contains(published.name)) << published.name;
    const at::Tensor& theirs = all[published.name];
    item.value().copy_(published.is_transposed ? theirs.t() : theirs);
    all.erase(published.name);
  }
  const at::Tensor logits = gpt.forward(all["fixture.tokens"], {});
  const at::Tensor& wanted = all["fixture.logits"];
  EXPECT_LE((logits - wanted).abs().max().item<double>(), 1e-5 * wanted.abs().max().item<double>());
  EXPECT_EQ(all.size(), 2u) << "the checkpoint has tensors that the model did not ask for";
}

}  // namespace
}  // namespace trireme::model
