#include "trireme/train/answers.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "trireme/base/config/reader.h"
#include "trireme/base/config/value.h"
#include "trireme/base/error.h"
#include "trireme/base/file.h"
#include "trireme/base/record.h"
#include "trireme/checkpoint/checkpoint.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/load_into.h"
#include "trireme/checkpoint/published.h"
#include "trireme/model/lora.h"
#include "trireme/optim/kinds.h"
#include "trireme/train/averaged_weights.h"
#include "trireme/train/evaluation.h"
#include "trireme/train/generation.h"
#include "trireme/train/job.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

struct Trained {
  config::Config config;
  data::Sets sets{};
  std::shared_ptr<model::Model> model{};
  std::int64_t step = 0;
};

[[noreturn]] void refuse_step(std::int64_t step, const fs::path& folder) {
  std::string steps;
  for (const auto& listed : checkpoint::format::list_checkpoints(folder)) {
    steps += (steps.empty() ? "" : ", ") + std::to_string(listed.step);
  }
  throw Error(ErrorCode::NotFound,
              folder.string() + " has no checkpoint of step " + std::to_string(step) +
                  (steps.empty() ? ", nor any other" : "; there are those of " + steps));
}

checkpoint::Checkpoint checkpoint_of(const WorkerWords& words, const fs::path& folder,
                                     const std::optional<net::Secret>& key) {
  if (words.has("--checkpoint")) {
    const std::int64_t step = words.integer("--checkpoint", 0);
    const fs::path path = folder / checkpoint::format::folder_name(step);
    if (!fs::exists(path)) refuse_step(step, folder);
    return checkpoint::Checkpoint::open(path, key);
  }
  auto newest = checkpoint::Checkpoint::newest_whole(folder, key);
  if (!newest.checkpoint) {
    throw Error(ErrorCode::NotFound, folder.string() + " holds no whole checkpoint");
  }
  return *newest.checkpoint;
}

Trained open_trained(const WorkerWords& words, const Kinds& kinds) {
  const fs::path output = words.text("--output");
  Trained trained{.config = config::read_config(
                      recipe_schema(kinds), {.files = {config::load_config(output / "config.toml")},
                                             .overrides = words.overrides()})};
  trained.sets = kinds.data.open(trained.config);
  trained.model = make_model(trained.config, kinds, trained.sets.train->form());
  const checkpoint::Checkpoint from =
      checkpoint_of(words, output / "checkpoints",
                    trained.config.get<CheckpointConfig>("checkpoint").sealing().key);
  trained.step = from.step();
  try {
    checkpoint::load_into(*trained.model, checkpoint::open_tensors(from),
                          {.is_rest_ignored = true});
    // With average.kind=none among the words, the weights as they were trained.
    if (optim::has_average(trained.config)) read_average(*trained.model, from);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Mismatch) throw;
    throw Error(
        ErrorCode::InvalidInput,
        error.message() + "Give the settings of [model] and [data] that it was trained with");
  }
  return trained;
}

// Bytes as they are: a text may hold a zero.
void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

// In quotation marks where a table would not show it.
std::string class_name(const data::Form& form, std::size_t index) {
  if (index >= form.class_names.size()) return std::to_string(index);
  const std::string& name = form.class_names[index];
  const bool is_seen =
      std::any_of(name.begin(), name.end(), [](unsigned char c) { return c > ' '; });
  const bool is_plain =
      std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
  return is_seen && is_plain ? name : config::quote_toml(name);
}

void print_classes(const Scores& scores, const data::Form& form) {
  const std::vector<ClassScore> classes = scores.classes();
  if (classes.empty() || classes.size() > 100) return;
  std::printf("\n%-20s %9s %9s %9s %9s\n", "class", "precision", "recall", "f1", "count");
  for (std::size_t c = 0; c < classes.size(); ++c) {
    std::printf("%-20s %9.4f %9.4f %9.4f %9" PRId64 "\n", class_name(form, c).c_str(),
                classes[c].precision, classes[c].recall, classes[c].f1, classes[c].count);
  }
  if (classes.size() > 20) return;
  std::printf("\nconfusion: row is what it is, column what it was taken for\n");
  for (std::size_t row = 0; row < classes.size(); ++row) {
    std::printf("%-20s", class_name(form, row).c_str());
    for (std::size_t column = 0; column < classes.size(); ++column) {
      std::printf(" %6" PRId64, scores.matrix()[row * classes.size() + column]);
    }
    std::printf("\n");
  }
}

// What `trireme plot` draws the matrix from.
void save_matrix(const fs::path& file, const Scores& scores, const data::Form& form) {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < static_cast<std::size_t>(scores.class_count()); ++c) {
    names.push_back(class_name(form, c));
  }
  const nlohmann::json all{{"classes", names}, {"matrix", scores.matrix()}};
  // A folder's name, which a class may have, need not be UTF-8.
  using Handler = nlohmann::json::error_handler_t;
  write_file_atomically(file, all.dump(-1, ' ', false, Handler::replace) + "\n");
}

}  // namespace

int answer_eval(const WorkerWords& words, const Kinds& kinds) {
  const Trained trained = open_trained(words, kinds);
  if (!trained.sets.test) {
    throw Error(ErrorCode::InvalidInput, "this recipe's data have no part to evaluate on");
  }
  const data::Form& form = trained.sets.test->form();
  if (words.has("--save") && (form.classes == 0 || form.classes > Scores::kMatrixClassesMax)) {
    throw Error(ErrorCode::InvalidInput, "--save keeps a matrix of classes: " +
                                             std::to_string(form.classes) + " classes have none");
  }
  const auto loss = make_loss(trained.config, form, trained.sets.train.get());
  const Scores scores =
      evaluate(*trained.model, {.source = trained.sets.test,
                                .loss = loss.get(),
                                .batch = trained.config.get<EvalConfig>("eval").batch,
                                .is_ranked = can_rank(*trained.sets.test)});
  Record record{{"step", trained.step}, {"loss", scores.loss()}};
  if (scores.answers() > 0) {
    record.add({"accuracy", scores.accuracy()});
    if (!scores.matrix().empty()) {
      record.add({"f1", scores.f1()});
      record.add({"balanced_accuracy", scores.balanced_accuracy()});
      record.add({"calibration_error", scores.calibration_error()});
      if (form.classes > 5) record.add({"top5", scores.top5()});
    }
    if (scores.roc_auc()) record.add({"roc_auc", *scores.roc_auc()});
  }
  if (scores.has_numbers()) {
    record.add({"mae", scores.mean_absolute_error()});
    record.add({"r2", scores.r2()});
  }
  if (form.is_text()) record.add({"perplexity", scores.perplexity()});
  if (words.has("--save")) {
    save_matrix(fs::path(words.text("--output")) / "evaluation.json", scores, form);
  }
  if (words.has("--json")) {
    std::printf("%s\n", record.to_json().c_str());
    return 0;
  }
  std::printf("%s\n", record.to_text().c_str());
  print_classes(scores, form);
  return 0;
}

int answer_generate(const WorkerWords& words, const Kinds& kinds) {
  const Trained trained = open_trained(words, kinds);
  const data::Form& form = trained.sets.train->form();
  if (form.classes == 0 || form.input_type != at::kLong) {
    throw Error(ErrorCode::InvalidInput,
                "only a model of texts generates; this one's data are not");
  }
  const Vocabulary vocabulary(form);
  const std::string prompt = words.text("--prompt", "");
  std::vector<std::int64_t> begin = vocabulary.encode(prompt);
  if (begin.empty()) begin = vocabulary.beginning();
  print(prompt);
  // Numbers have blanks between them.
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

// Before anything large is read.
static void refuse_to_overwrite(const fs::path& file, bool is_forced) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!fs::is_directory(folder)) {
    throw Error(ErrorCode::InvalidInput, file.string() + ": there is no folder " + folder.string());
  }
  if (fs::exists(file) && !is_forced) {
    throw Error(ErrorCode::InvalidInput, file.string() + " exists; --force overwrites it");
  }
}

int answer_export(const WorkerWords& words, const Kinds& kinds) {
  const fs::path file = words.text("--file");
  refuse_to_overwrite(file, words.has("--force"));
  const Trained trained = open_trained(words, kinds);
  // A model of the same kind without them reads it.
  model::merge_lora(*trained.model);
  checkpoint::NamedTensors all = checkpoint::published_tensors(*trained.model);
  std::erase_if(all, [](const auto& item) { return model::is_lora(item.first); });
  checkpoint::write_safetensors(file, all);
  std::printf("%s: %zu tensors of step %" PRId64 "\n", file.c_str(), all.size(), trained.step);
  return 0;
}

}  // namespace trireme::train
