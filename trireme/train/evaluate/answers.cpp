#include "trireme/train/evaluate/answers.h"

#include <cinttypes>
#include <cstdio>
#include <filesystem>

#include "trireme/base/error.h"
#include "trireme/checkpoint/published.h"
#include "trireme/model/layer/lora.h"
#include "trireme/train/evaluate/class_sampler.h"
#include "trireme/train/evaluate/drawing.h"
#include "trireme/train/evaluate/generation.h"
#include "trireme/train/hugging_face_export.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

// Prints all bytes, since a text may contain zeros.
void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

TrainedModelOptions wanted_model(const WorkerWords& words) {
  TrainedModelOptions options{.folder = words.text("--output"), .overrides = words.overrides()};
  options.is_best = words.text("--checkpoint", "") == "best";
  if (words.has("--checkpoint") && !options.is_best) {
    options.step = words.integer("--checkpoint", 0);
  }
  return options;
}

int answer_generate(const WorkerWords& words, const Kinds& kinds) {
  const TrainedModel trained = open_trained(wanted_model(words), kinds);
  if (const auto sampler = class_sampler(trained, kinds)) {
    return answer_draw(words, trained, *sampler);
  }
  const data::Form& form = trained.data.form;
  if (form.classes == 0 || form.input_type != at::kLong) {
    throw Error(ErrorCode::InvalidInput,
                "generate requires a language model, a gan or an autoencoder");
  }
  const Vocabulary vocabulary(form);
  const std::string prompt = words.text("--prompt", "");
  std::vector<std::int64_t> begin = vocabulary.encode(prompt);
  if (begin.empty()) begin = vocabulary.beginning();
  print(prompt);
  // Token ids are separated by blanks.
  bool is_parted = !vocabulary.is_text() && !prompt.empty();
  generate(*trained.model,
           {.prompt = std::move(begin),
            .count = words.integer("--count", 200),
            .context = form.input_sizes.at(0),
            .layers = static_cast<int>(trained.model->blocks().size()),
            .sampling = {.temperature = words.number("--temperature", 0.8, 0, 1e6),
                         .top_k = words.integer("--top-k", 0),
                         .top_p = words.number("--top-p", 1, 0, 1),
                         .seed = static_cast<std::uint64_t>(words.integer("--seed", 1))}},
           [&](std::int64_t token) {
             print((is_parted ? " " : "") + vocabulary.decode(token));
             is_parted = !vocabulary.is_text();
             return true;
           });
  print("\n");
  return 0;
}

// Called before large files are read.
static void refuse_to_overwrite(fs::path file, bool is_forced) {
  if (!file.has_filename()) file = file.parent_path();  // "folder/"
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!fs::is_directory(folder)) {
    throw Error(ErrorCode::InvalidInput,
                file.string() + ": the folder " + folder.string() + " does not exist");
  }
  if (fs::exists(file) && !is_forced) {
    throw Error(ErrorCode::InvalidInput, file.string() + " exists; use --force to overwrite it");
  }
}

int answer_export(const WorkerWords& words, const Kinds& kinds) {
  const fs::path file = words.text("--file");
  refuse_to_overwrite(file, words.has("--force"));
  const TrainedModel trained = open_trained(wanted_model(words), kinds);
  // A model of the same kind without adapters can read merged weights.
  model::merge_lora(*trained.model);
  checkpoint::NamedTensors all = checkpoint::published_tensors(*trained.model);
  std::erase_if(all, [](const auto& item) { return model::is_lora(item.first); });
  const bool is_folder = file.extension() != ".safetensors";
  is_folder ? export_hugging_face(file, trained, all) : checkpoint::write_safetensors(file, all);
  std::printf("%s: %zu tensors of step %" PRId64 "\n", file.c_str(), all.size(), trained.step);
  return 0;
}

}  // namespace trireme::train
