// Goal:   a Llama checkpoint of Hugging Face's gives Hugging Face's logits in our llama, and goes
// out
//         again as it came in.
// Method: tests/model/llama_fixture.safetensors, made by tests/model/make_llama_fixture.py with
//         `transformers`, holds random weights, tokens and logits. They must agree within 1e-5 of
//         the largest: float32, with frequencies that are rounded at another place.

#include "trireme/model/llama.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/folders.h"
#include "trireme/base/temporary_folder.h"
#include "trireme/checkpoint/load_into.h"
#include "trireme/checkpoint/published.h"

namespace trireme::model {
namespace {

TEST(ModelLlama, LogitsAreHuggingFaces) {
  const checkpoint::TensorSource fixture =
      checkpoint::open_tensors(source_folder() + "/tests/model/llama_fixture.safetensors");
  const LlamaConfig shape{.vocabulary = 23,
                          .context = 40,
                          .width = 24,
                          .layers = 2,
                          .heads = 6,
                          .shared_heads = 2,
                          .hidden = 40,
                          .rope_base = 500,
                          .rope_scaling = RopeScaling::Llama3,
                          .rope_factor = 4,
                          .rope_original_context = 16};
  const TemporaryFolder folder("llama");
  checkpoint::NamedTensors weights;
  for (const std::string& name : fixture.names) {
    if (!name.starts_with("fixture.")) weights.emplace_back(name, fixture.read(name));
  }
  checkpoint::write_safetensors(folder.path() / "theirs.safetensors", weights);
  Llama llama(shape, {});
  checkpoint::load_published(llama, folder.path() / "theirs.safetensors");
  const torch::NoGradGuard no_grad;
  const at::Tensor logits = llama.forward(fixture.read("fixture.tokens"), {});
  const at::Tensor wanted = fixture.read("fixture.logits");
  EXPECT_LE((logits - wanted).abs().max().item<double>(), 1e-5 * wanted.abs().max().item<double>());
  const checkpoint::NamedTensors out = checkpoint::published_tensors(llama);
  EXPECT_EQ(out.size(), weights.size());
  for (const auto& [name, tensor] : out) EXPECT_TRUE(tensor.equal(fixture.read(name))) << name;
}

}  // namespace
}  // namespace trireme::model
