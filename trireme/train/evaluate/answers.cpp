#include "trireme/train/evaluate/answers.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <filesystem>

#include "trireme/base/error.h"
#include "trireme/checkpoint/published.h"
#include "trireme/data/data_config.h"
#include "trireme/model/kind/gan.h"
#include "trireme/model/layer/lora.h"
#include "trireme/train/evaluate/class_sampler.h"
#include "trireme/train/evaluate/drawing.h"
#include "trireme/train/evaluate/generation.h"
#include "trireme/train/evaluate/prediction.h"
#include "trireme/train/hugging_face_export.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

// Prints all bytes, since a text may contain zeros.
void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void refuse_unpredictable(const TrainedModel& trained) {
  const bool is_gan = std::dynamic_pointer_cast<model::Gan>(trained.model) != nullptr;
  const auto& reading = trained.config.get<data::DataConfig>("data");
  if (!is_gan && reading.target == data::Target::Labels) return;
  throw Error(
      ErrorCode::InvalidInput,
      "predict requires a model of classes or numbers; use `trireme generate` with a gan or "
      "an autoencoder");
}

// Checks where the output goes first, because a prediction may take hours and would be lost.
void require_folder_of(const fs::path& file) {
  const fs::path folder = fs::absolute(file).parent_path();
  const std::string what = file.string() + ": ";
  if (!fs::is_directory(folder)) {
    throw Error(ErrorCode::NotFound, what + "the folder " + folder.string() +
                                         " does not exist. Create it, or name another file");
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw Error(ErrorCode::InvalidInput, what + "you may not write to the folder " +
                                             folder.string() + ". Name another file");
  }
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

int answer_predict(const WorkerWords& words, const Kinds& kinds) {
  const fs::path input = words.text("--input"), file = words.text("--file", "");
  PredictionWriter writer(
      {.format = prediction_format(words.text("--format", "csv")), .file = file});
  if (!fs::exists(input)) {
    throw Error(ErrorCode::NotFound, input.string() + " does not exist");
  }
  if (!file.empty()) require_folder_of(file);
  if (fs::is_directory(file)) {
    throw Error(ErrorCode::InvalidInput, file.string() + " is a folder. Name a file in it");
  }
  const TrainedModel trained = open_trained(wanted_model(words), kinds);
  refuse_unpredictable(trained);
  if (trained.data.form.is_text()) {
    if (fs::is_directory(input)) {
      throw Error(ErrorCode::InvalidInput,
                  input.string() + " is a folder, but this model reads texts; use a text file");
    }
    predict_lines(trained, input, writer);
  } else {
    predict(trained, kinds.data.open_inputs(trained.config, trained.data, input), writer);
  }
  writer.finish();
  if (writer.empty_rows() > 0) {
    std::fprintf(stderr,
                 "trireme: %" PRId64 " of %" PRId64
                 " samples have no prediction; their rows are empty\n",
                 writer.empty_rows(), writer.rows() + writer.empty_rows());
  }
  if (!file.empty()) {
    std::printf("%s: %" PRId64 " predictions of step %" PRId64 "\n", file.c_str(), writer.rows(),
                trained.step);
  }
  return 0;
}

int answer_export(const WorkerWords& words, const Kinds& kinds) {
  fs::path file = words.text("--file");
  if (!file.has_filename()) file = file.parent_path();  // "folder/"
  require_folder_of(file);
  if (fs::exists(file) && !words.has("--force")) {
    throw Error(ErrorCode::InvalidInput, file.string() + " exists; use --force to overwrite it");
  }
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
