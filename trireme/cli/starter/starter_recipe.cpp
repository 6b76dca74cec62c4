#include "trireme/cli/starter/starter_recipe.h"

#include <algorithm>

#include "trireme/base/config/value.h"

namespace trireme::cli::starter {
namespace {

namespace fs = std::filesystem;
using config::quote_toml;

// A line with its comment at a fixed column, so that the comments are easy to skim.
std::string line(std::string setting, const std::string& comment) {
  constexpr std::size_t kColumn = 34;
  if (comment.empty()) return setting + "\n";
  setting.resize(std::max(setting.size() + 2, kColumn), ' ');
  return setting + "# " + comment + "\n";
}

std::string list_of(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + quote_toml(name);
  return "[" + all + "]";
}

std::string path_of(const fs::path& path) {
  return quote_toml(fs::absolute(path).lexically_normal().string());
}

std::string count_of(std::size_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string header(const std::string& what) {
  return "# This recipe " + what +
         ".\n"
         "# `trireme explain RECIPE` prints every setting with its value and its meaning; "
         "settings\n"
         "# that are not here have their defaults. `key=value` on the command line changes one "
         "for\n"
         "# a job: trireme train RECIPE optim.lr=3e-4\n\n";
}

// Fifty steps per epoch or more, if there are enough samples for them.
std::size_t batch_for(std::size_t samples) {
  std::size_t batch = 16;
  while (batch < 256 && samples / (2 * batch) >= 50) batch *= 2;
  return std::min(batch, std::max<std::size_t>(samples / 2, 1));
}

std::string training(std::size_t batch, const std::string& length) {
  return "[train]\n" +
         line("global_batch_size = " + std::to_string(batch), "samples per step, of all ranks") +
         length + "\n[optim]\n" + line("kind = \"adamw\"", "") +
         line("lr = 1e-3", "learning rate; the first setting to tune") + "\n[schedule]\n" +
         line("kind = \"cosine\"", "reduces the learning rate to 0 at the end");
}

}  // namespace

StarterRecipe table_recipe(const fs::path& data, const TableLook& table, const TablePlan& plan) {
  const bool is_class = plan.predicted == Predicted::Class;
  StarterRecipe recipe;
  recipe.what = "predicts the " + std::string(is_class ? "class" : "number") + " in column " +
                quote_toml(plan.target) +
                (is_class ? " (" + std::to_string(plan.classes) + " classes)" : "") + " from " +
                count_of(plan.inputs.size(), "column") + " of " + data.filename().string();
  std::string& text = recipe.text;
  text =
      header(recipe.what) + "[model]\n" + line("kind = \"mlp\"", "fully connected layers") +
      line("hidden_sizes = [64, 64]", "neurons of each hidden layer; [] is a linear model") +
      "\n[data]\n" + line("kind = " + quote_toml(table.kind), "") +
      line("train = " + path_of(data), "") +
      line("# test = \"test.csv\"", "without it, a tenth of the rows is kept for evaluation") +
      line("task = " + std::string(is_class ? "\"classification\"" : "\"regression\""),
           is_class ? "\"regression\" predicts a number" : "\"classification\" predicts a class") +
      line("targets = " + list_of({plan.target}), "the column to predict");
  if (!plan.left_out.empty()) {
    text += "# Not used:";
    for (const std::string& one : plan.left_out)
      text += (&one == &plan.left_out.front() ? " " : ", ") + one;
    text += ".\n" + line("inputs = " + list_of(plan.inputs), "");
  }
  if (!plan.categories.empty()) {
    text += line("categories = " + list_of(plan.categories),
                 "inputs that are names, not numbers (one-hot)");
  }
  if (plan.missing == "mean") {
    text +=
        line("missing = \"mean\"", "numbers: the column's mean; names: a category of their own");
  } else if (!plan.missing.empty()) {
    text += line("missing = " + quote_toml(plan.missing), "rows with a missing value are left out");
  }
  if (table.kind == "csv" && table.delimiter != ",") {
    text += line("delimiter = " + quote_toml(table.delimiter), "between the fields of a line");
  }
  text += "\n" + training(batch_for(static_cast<std::size_t>(table.rows)),
                          line("epochs = 20", "passes over the training rows"));
  text += "\n[eval]\n" + line(std::string("metric = ") + (is_class ? "\"accuracy\"" : "\"mae\""),
                              "decides which checkpoint is the best one");
  return recipe;
}

StarterRecipe images_recipe(const ImagesLook& images) {
  // Every class has pictures in every part.
  const std::size_t folds = std::clamp<std::size_t>(images.files / images.classes, 2, 10);
  StarterRecipe recipe;
  recipe.what = "classifies pictures: " + std::to_string(images.classes) + " classes, " +
                count_of(images.files, "picture") + " to train on";
  recipe.text =
      header(recipe.what) + "[model]\n" + line("kind = \"resnet\"", "a residual network") +
      line("depth = 14", "18, 34 and 50 are larger and slower") + "\n[data]\n" +
      line("kind = \"images\"", "a folder of JPEG and PNG files for each class") +
      line("train = " + path_of(images.train), "") +
      (images.test.empty() ? line("folds = " + std::to_string(folds),
                                  "the pictures are divided into so many parts,") +
                                 line("fold = 0", "of which this one is kept for evaluation")
                           : line("test = " + path_of(images.test), "pictures to evaluate on")) +
      line("size = [64, 64]", "height and width; larger is slower, and sees details") +
      line("horizontal_flip = true", "mirrors pictures at random; false for letters and digits") +
      line("pad_crop = 4", "shifts them at random by up to 4 pixels") +
      line("mean = [0.485, 0.456, 0.406]", "of red, green and blue in usual photographs") +
      line("std = [0.229, 0.224, 0.225]", "") +
      line("num_workers = 2", "threads that decode pictures") + "\n" +
      training(std::min<std::size_t>(batch_for(images.files), 64),
               line("epochs = 10", "passes over the training pictures")) +
      "\n[eval]\n" + line("metric = \"accuracy\"", "decides which checkpoint is the best one");
  return recipe;
}

StarterRecipe text_recipe(const fs::path& data, const TextLook& text) {
  StarterRecipe recipe;
  recipe.what = "trains a small GPT on the " + std::string(text.is_utf8 ? "characters" : "bytes") +
                " of " + data.filename().string();
  recipe.text = header(recipe.what) + "[model]\n" +
                line("kind = \"gpt\"", "a decoder-only transformer") +
                line("hidden_size = 128", "embedding dimension") + line("num_layers = 4", "") +
                line("num_heads = 4", "attention heads of each layer") + "\n[data]\n" +
                line("kind = \"text\"", "") + line("file = " + path_of(data), "") +
                line(std::string("unit = ") + (text.is_utf8 ? "\"character\"" : "\"byte\""),
                     "what a token is; `trireme tokenizer` makes longer tokens") +
                line("seq_len = 64", "tokens that the model sees at once") +
                line("validation_fraction = 0.1", "the end of the text, which is not trained on") +
                "\n" + training(16, line("steps = 2000", "")) + line("warmup_steps = 100", "") +
                "\n[eval]\n" + line("every = 250", "steps between evaluations");
  return recipe;
}

}  // namespace trireme::cli::starter
