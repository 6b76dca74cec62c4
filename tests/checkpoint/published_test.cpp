// Goal:   a Hugging Face GPT-2 loads into Trireme's gpt from every form of its files and is
//         exported in a form that other programs read; mismatches are reported.
// Method: tests/model/gpt2_fixture.safetensors, created by `transformers`, unchanged and rewritten:
//         without the first component of its names, with masks and a tied head; one run of Python,
//         which computes the model from the exported file with plain torch.

#include "trireme/checkpoint/published.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <fstream>

#include "tests/folders.h"
#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/saver.h"
#include "trireme/model/kind/gpt.h"
#include "trireme/model/start.h"
#include "trireme/testing/command_process.h"

namespace trireme::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class PublishedWeights : public ::testing::Test {
 protected:
  PublishedWeights() {
    const TensorReader source =
        open_tensors(source_folder() + "/tests/model/gpt2_fixture.safetensors");
    for (const std::string& name : source.names) {
      (name.starts_with("fixture.") ? known_ : theirs_).emplace_back(name, source.read(name));
    }
  }

  static std::shared_ptr<model::Gpt> gpt(std::int64_t width = 24) {
    auto model = std::make_shared<model::Gpt>(
        model::GptConfig{.vocabulary = 23, .context = 16, .width = width, .layers = 2, .heads = 3},
        data::Form{});
    model::initialize(*model, 1);
    return model;
  }
  const at::Tensor& known(const std::string& name) const {
    for (const auto& [key, value] : known_) {
      if (key == "fixture." + name) return value;
    }
    throw Error(ErrorCode::NotFound, name);
  }
  double distance(model::Model& model) const {
    const torch::NoGradGuard no_grad;
    const at::Tensor& wanted = known("logits");
    const at::Tensor logits = model.forward(known("tokens"), {});
    return ((logits - wanted).abs().max() / wanted.abs().max()).item<double>();
  }
  fs::path file(const NamedTensors& tensors) const {
    const fs::path path = folder_.path() / "weights.safetensors";
    write_safetensors(path, tensors);
    return path;
  }
  static std::string complaint(const std::function<void()>& body) {
    try {
      body();
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  }

  TemporaryFolder folder_{"published"};
  NamedTensors theirs_, known_;
};

TEST_F(PublishedWeights, LoadFromEveryFormOfTheFile) {
  const auto whole = gpt();
  EXPECT_GT(distance(*whole), 0.01);
  EXPECT_TRUE(load_published(*whole, file(theirs_)).is_complete());
  EXPECT_LT(distance(*whole), 1e-5);

  NamedTensors bare;
  NamedTensors prefixed;
  for (const auto& [name, value] : theirs_) {
    bare.emplace_back(name.substr(std::string("transformer.").size()), value);
    prefixed.emplace_back("model." + name, value);
    if (name == "transformer.wte.weight") bare.emplace_back("lm_head.weight", value.clone());
  }
  bare.emplace_back("h.0.attn.bias", torch::ones({1, 1, 16, 16}));
  bare.emplace_back("h.1.attn.masked_bias", torch::tensor(-1e4));
  const auto base = gpt();
  EXPECT_TRUE(load_published(*base, file(bare)).is_complete());
  EXPECT_LT(distance(*base), 1e-5);
  const auto renamed = gpt();
  EXPECT_THROW(load_published(*renamed, file(prefixed)), Error);
  load_published(*renamed, file(prefixed), {.renames = {"model.="}});
  EXPECT_LT(distance(*renamed), 1e-5);
}

TEST_F(PublishedWeights, LoadFromCheckpointsAndArchives) {
  const auto model = gpt();
  load_published(*model, file(theirs_));
  State state;
  for (const auto& [name, tensor] : tensors_of(*model)) {
    state.add(name, tensor.detach());
    state.add(name + "/exp_avg", torch::zeros_like(tensor));
  }
  Saver saver({.folder = folder_.path() / "checkpoints"});
  saver.save(state, 7);
  saver.wait();
  const std::string archive = (folder_.path() / "ours.pt").string();
  torch::save(model, archive);
  for (const fs::path& from :
       {folder_.path(), folder_.path() / "checkpoints",
        folder_.path() / "checkpoints" / "step-00000007", fs::path(archive)}) {
    const auto again = gpt();
    EXPECT_TRUE(load_published(*again, from).is_complete()) << from;
    EXPECT_LT(distance(*again), 1e-5) << from;
  }
}

// An export beside a job's checkpoints is older than they are, and no key signs it.
TEST_F(PublishedWeights, AJobsFolderIsNeverReadAsAHuggingFaceFolder) {
  const auto model = gpt();
  load_published(*model, file(theirs_));
  State state;
  for (const auto& [name, tensor] : tensors_of(*model)) {
    state.add(name, tensor.detach());
    state.add(name + "/exp_avg", torch::zeros_like(tensor));
  }
  const fs::path job = folder_.path() / "job", step = job / "checkpoints" / "step-00000007";
  Saver saver({.folder = job / "checkpoints"});
  saver.save(state, 7);
  saver.wait();
  const std::vector<fs::path> all{job, job / "checkpoints", step, step / ""};
  for (const fs::path& folder : all) {
    write_safetensors(folder / "model.safetensors", published_tensors(*gpt()));
  }
  for (const fs::path& from : all) {
    const auto loaded = gpt();
    EXPECT_TRUE(load_published(*loaded, from).is_complete()) << from;
    EXPECT_LT(distance(*loaded), 1e-5) << from;
  }
  fs::remove(step / "manifest.json");
  fs::create_directory_symlink("checkpoints/step-00000007", job / "newest");
  const fs::path begun = folder_.path() / "begun";
  fs::create_directory(begun);
  write_safetensors(begun / "model.safetensors", published_tensors(*gpt()));
  EXPECT_NO_THROW(load_published(*gpt(), begun));
  std::ofstream(begun / "job_id") << "0123456789abcdef";
  for (const fs::path& from : {job, job / "checkpoints", step, step / "", job / "newest", begun}) {
    EXPECT_THAT(complaint([&] { load_published(*gpt(), from); }),
                HasSubstr(from.string() + " holds no whole checkpoint. To load"));
  }
}

TEST_F(PublishedWeights, MismatchesAreReported) {
  NamedTensors wrong = theirs_;
  // A separate output head, which a tied model does not have.
  wrong.emplace_back("lm_head.weight", torch::ones({23, 24}));
  std::erase_if(wrong, [](const auto& one) { return one.first == "transformer.ln_f.bias"; });
  const auto model = gpt();
  const std::string text = complaint([&] { load_published(*model, file(wrong)); });
  EXPECT_THAT(text, HasSubstr("missing in the file: transformer.ln_f.bias"));
  EXPECT_THAT(text, HasSubstr("unknown to the model: lm_head.weight"));
  const LoadReport report = load_published(*model, file(wrong), {.is_strict = false});
  EXPECT_EQ(report.loaded.size() + 1, tensors_of(*model).size());
  EXPECT_THAT(complaint([&] { load_published(*gpt(12), file(theirs_)); }),
              HasSubstr("[23, 24] in the file, [23, 12] in the model"));
  EXPECT_THAT(complaint([&] { load_published(*model, folder_.path()); }),
              HasSubstr("holds neither a whole checkpoint nor model.safetensors"));
  EXPECT_THAT(complaint([&] { load_published(*model, "/no/such.safetensors"); }),
              HasSubstr("does not exist"));
  EXPECT_EQ(complaint_of_renames({"a=b", "a.=b.", "a.="}), "");
  for (const char* bad : {"a", "=b", "a=", "a.=b", "a=b."}) {
    EXPECT_NE(complaint_of_renames({bad}), "") << bad;
  }
}

TEST_F(PublishedWeights, AreExportedInAFormThatOtherProgramsRead) {
  const auto model = gpt();
  load_published(*model, file(theirs_));
  NamedTensors out = published_tensors(*model);
  EXPECT_EQ(out.size(), theirs_.size());
  for (const auto& [name, value] : theirs_) {
    const auto found = std::ranges::find(out, name, &NamedTensors::value_type::first);
    ASSERT_NE(found, out.end()) << name;
    EXPECT_TRUE(found->second.equal(value)) << name;
  }
  out.insert(out.end(), known_.begin(), known_.end());
  testing::CommandProcess python(
      {.command = {python_program(), source_folder() + "/tests/checkpoint/plain_gpt2.py",
                   file(out).string()}});
  const int code = python.wait_exit(Deadline::after(std::chrono::seconds(100)));
  if (code == 77) GTEST_SKIP() << "no safetensors beside this torch (scripts/setup.sh all)";
  ASSERT_EQ(code, 0) << python.error();
  EXPECT_LT(std::stod(python.out()), 1e-5);
}

}  // namespace
}  // namespace trireme::checkpoint
