#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/base/text/shell_word.h"
#include "trireme/cli/commands.h"
#include "trireme/cli/setters.h"
#include "trireme/cli/starter/starter_recipe.h"

namespace trireme::cli {
namespace {

namespace fs = std::filesystem;
using starter::Predicted;
using starter::Task;

struct NewWords {
  std::string folder = ".";
  std::string task, data, target, predicted;
  bool asks = false;  // at a terminal, for what the options do not say
};

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::InvalidInput, why);
}

// An empty answer is the default.
std::string ask(const std::string& question, const std::string& proposal) {
  std::printf("%s%s: ", question.c_str(), proposal.empty() ? "" : (" [" + proposal + "]").c_str());
  std::fflush(stdout);
  std::string answer;
  if (!std::getline(std::cin, answer)) refuse("no answer; nothing was written");
  const std::size_t begin = answer.find_first_not_of(" \t");
  if (begin == std::string::npos) return proposal;
  return answer.substr(begin, answer.find_last_not_of(" \t\r") - begin + 1);
}

std::string ask_one_of(const std::string& question, const std::vector<std::string>& answers,
                       const std::string& proposal) {
  while (true) {
    const std::string answer = ask(question + " (" + joined(answers, ", ") + ")", proposal);
    if (std::ranges::find(answers, answer) != answers.end()) return answer;
    std::printf("'%s' is none of them.\n", answer.c_str());
  }
}

Task task_of(NewWords& words) {
  if (words.data.empty()) {
    if (!words.asks) refuse("--data is missing: a table, a folder of pictures or a text");
    words.data = ask(
        "Data: a table (CSV or JSON lines), a folder with a folder of pictures for each class, or "
        "a text file",
        "");
  }
  const Task guess = starter::guess_task(words.data);
  const std::vector<std::string> names(std::begin(starter::kTaskNames),
                                       std::end(starter::kTaskNames));
  if (words.task.empty()) {
    words.task = names[static_cast<std::size_t>(guess)];
    if (words.asks) words.task = ask_one_of("Task", names, words.task);
  }
  const auto task = static_cast<Task>(std::ranges::find(names, words.task) - names.begin());
  if ((task == Task::Images) != (guess == Task::Images)) {
    refuse("--task " + words.task + " needs a " + (task == Task::Images ? "folder" : "file") +
           ", and " + words.data + " is a " + (task == Task::Images ? "file" : "folder"));
  }
  if (task != Task::Tabular && !(words.target.empty() && words.predicted.empty())) {
    refuse("--target and --predict are for --task tabular");
  }
  return task;
}

starter::StarterRecipe table_recipe(const NewWords& words) {
  const starter::TableLook table = starter::look_at_table(words.data);
  std::string target = words.target;
  if (target.empty()) {
    target = table.columns.back().name;
    if (words.asks) {
      std::vector<std::string> names;
      for (const starter::Column& column : table.columns) names.push_back(column.name);
      target = ask_one_of("Column to predict", names, target);
    }
  }
  const Predicted guess = starter::guess_predicted(table.column(target));
  std::string predicted = words.predicted;
  if (predicted.empty()) {
    predicted = guess == Predicted::Class ? "class" : "number";
    if (words.asks) predicted = ask_one_of("Predict a", {"class", "number"}, predicted);
  }
  return starter::table_recipe(
      words.data, table,
      starter::plan_table(table, target,
                          predicted == "class" ? Predicted::Class : Predicted::Number));
}

starter::StarterRecipe recipe_for(Task task, const NewWords& words) {
  switch (task) {
    case Task::Tabular:
      return table_recipe(words);
    case Task::Images:
      return starter::images_recipe(starter::look_at_images(words.data));
    case Task::Text:
      break;
  }
  return starter::text_recipe(words.data, starter::look_at_text(words.data));
}

// The name of the data, or of the folder that holds their part "train".
std::string name_of(const fs::path& data) {
  const fs::path whole = fs::absolute(data).lexically_normal();
  fs::path path = whole.has_filename() ? whole : whole.parent_path();
  if (path.filename() == "train") path = path.parent_path();
  std::string name = fs::is_directory(path) ? path.filename().string() : path.stem().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return !(std::isalnum(c) || c == '.' || c == '_' || c == '-'); },
      '_');
  return name.empty() || name.front() == '.' ? "recipe" : name;
}

void write_new(const fs::path& file, const std::string& text) {
  if (file.has_parent_path()) fs::create_directories(file.parent_path());
  // "x": fails if the file exists.
  std::FILE* out = std::fopen(file.c_str(), "wxe");
  if (out == nullptr && errno == EEXIST) {
    refuse(file.string() + " exists already; name another folder: trireme new DIR");
  }
  if (out == nullptr) throw system_error(file.string(), errno);
  const bool is_written = std::fwrite(text.data(), 1, text.size(), out) == text.size();
  if (std::fclose(out) != 0 || !is_written) throw system_error(file.string(), errno);
}

int write_recipe(NewWords words) {
  words.asks = words.data.empty() && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
  const Task task = task_of(words);
  const starter::StarterRecipe recipe = recipe_for(task, words);
  const bool has_default_target = task == Task::Tabular && !words.asks && words.target.empty();
  const std::string name = name_of(words.data);
  const fs::path file = (fs::path(words.folder) / (name + ".toml")).lexically_normal();
  write_new(file, recipe.text);
  std::printf("wrote %s, which %s%s\n", file.c_str(), recipe.what.c_str(),
              has_default_target ? "; --target chooses another column" : "");
  std::printf("train with: %s train %s --output runs/%s\n",
              shell_word(program_invocation_name).c_str(), shell_word(file.string()).c_str(),
              name.c_str());
  return 0;
}

}  // namespace

Command new_command() {
  Command command("new", "Write a starter recipe for your table, pictures or text",
                  "trireme new --data iris.csv --target species");
  command.example("trireme new pets --data pictures/pets");
  command.example("trireme new gpt --task text --data input.txt");
  const auto words = std::make_shared<NewWords>();
  command.optional("DIR", "the folder to write the recipe to (default: this one)",
                   set_text(words->folder));
  command.option("--data", "PATH",
                 "a table (CSV or JSON lines), a folder of class folders of JPEG and PNG files, or "
                 "a text; without this option the command asks, at a terminal",
                 set_text(words->data));
  command.option("--task", "tabular|images|text", "what to train (default: by the data)",
                 one_of("--task", {"tabular", "images", "text"}, words->task));
  command.option("--target", "COLUMN", "tabular: the column to predict (default: the last)",
                 set_text(words->target));
  command.option("--predict", "class|number", "tabular: what it holds (default: by its values)",
                 one_of("--predict", {"class", "number"}, words->predicted));
  command.action([words] { return write_recipe(*words); });
  return command;
}

}  // namespace trireme::cli
