#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "trireme/base/config/schema_json.h"
#include "trireme/base/config/schema_text.h"
#include "trireme/base/error.h"
#include "trireme/cli/commands.h"
#include "trireme/cli/options.h"
#include "trireme/cli/train/answer.h"

namespace trireme::cli {
namespace {

struct ExplainWords {
  RecipeWords recipe;
  std::string worker;
  std::string key;
  bool is_list = false;
  bool is_json = false;
  std::optional<int> ranks{};
  HostsWords hosts{};

  bool is_mesh() const { return ranks || hosts.hosts; }
};

// Prints each setting on two lines: its value and origin, then its description.
void print(const config::Setting& setting) {
  const std::string unit = setting.unit.empty() ? "" : " " + setting.unit;
  std::string origin = setting.origin;
  if (!setting.is_default()) origin += "; default " + to_plain(setting.default_value);
  std::printf("%-28s = %-16s (%s)\n", setting.name.c_str(),
              (to_plain(setting.value) + unit).c_str(), origin.c_str());
  std::string what = setting.help.empty() ? setting.type : setting.help + ": " + setting.type;
  if (!setting.range.empty()) what += ", " + setting.range;
  std::printf("    %s\n", what.c_str());
}

nlohmann::ordered_json json_of(const config::Value& value) {
  return std::visit(
      [](const auto& content) -> nlohmann::ordered_json {
        using Content = std::decay_t<decltype(content)>;
        if constexpr (std::is_same_v<Content, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<Content, config::List>) {
          nlohmann::ordered_json all = nlohmann::ordered_json::array();
          for (const config::Value& item : content) all.push_back(json_of(item));
          return all;
        } else if constexpr (std::is_same_v<Content, config::Other>) {
          return content.type;
        } else {
          return content;
        }
      },
      value.content);
}

nlohmann::ordered_json json_of(const config::Setting& setting) {
  return {{"key", setting.key()},     {"value", json_of(setting.value)},
          {"origin", setting.origin}, {"default", json_of(setting.default_value)},
          {"type", setting.type},     {"range", setting.range},
          {"unit", setting.unit},     {"help", setting.help}};
}

// All settings, or the one with this key.
void print_json(const config::Config& config, const std::string& key) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const config::Setting& setting : config.settings()) {
    if (key.empty() || setting.key() == key) all.push_back(json_of(setting));
  }
  if (all.empty()) config.explain(key);  // throws, with the nearest key
  // A text of another encoding is replaced, since JSON is UTF-8.
  std::puts(all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

// The folder of a job holds the recipe that it was trained with.
RecipeWords recipe_of(RecipeWords words) {
  const std::filesystem::path path = words.recipe;
  if (!std::filesystem::is_directory(path)) return words;
  words.recipe = path / "config.toml";
  if (std::filesystem::exists(words.recipe)) return words;
  throw Error(ErrorCode::InvalidInput, path.string() +
                                           " is a folder without a config.toml; name a recipe or "
                                           "the folder of a job");
}

// The worker prints the mesh, because the layouts depend on the model.
[[noreturn]] void become_mesh(const ExplainWords& words, const Worker& worker) {
  cluster::launch::JobSpec spec;
  spec.ranks = words.ranks.value_or(1);
  words.hosts.apply(spec, words.ranks.has_value());
  std::vector<std::string> all{"mesh", "--recipe", recipe_of(words.recipe).recipe};
  if (words.hosts.hosts) {
    all.insert(all.end(), {"--hosts", *words.hosts.hosts});
  } else {
    all.insert(all.end(), {"--ranks", std::to_string(spec.ranks)});
  }
  if (words.is_json) all.emplace_back("--json");
  for (const std::string& text : words.recipe.overrides) all.insert(all.end(), {"--set", text});
  become_worker(worker, std::move(all));
}

int explain(const ExplainWords& words) {
  if (words.is_mesh() && (words.is_list || !words.key.empty())) {
    throw Error(ErrorCode::InvalidInput,
                "-n and --hosts print how ranks share the model; leave --key and --list out");
  }
  const Worker worker(words.worker);
  if (words.is_list) {
    const config::Schema schema = worker.schema();
    std::fputs(
        (words.is_json ? config::schema_json(schema) + "\n" : config::to_help(schema)).c_str(),
        stdout);
    return 0;
  }
  const config::Config config = recipe_of(words.recipe).read(worker);
  // The recipe of a job was accepted for its number of ranks; one rank synchronizes nothing.
  if (!std::filesystem::is_directory(words.recipe.recipe)) config.check_conflicts();
  if (words.is_mesh()) become_mesh(words, worker);
  if (words.is_json) {
    print_json(config, words.key);
    return 0;
  }
  if (!words.key.empty()) {
    std::fputs(config.explain(words.key).c_str(), stdout);
    return 0;
  }
  std::string section = "\n";
  for (const config::Setting& setting : config.settings()) {
    if (setting.section != section) {
      std::printf("%s[%s]\n", section == "\n" ? "" : "\n", setting.section.c_str());
      section = setting.section;
    }
    print(setting);
  }
  return 0;
}

}  // namespace

Command explain_command() {
  Command command("explain", "Print every setting of a recipe, what it means and where it was set",
                  "trireme explain recipes/fashion_cnn.toml --key train.global_batch_size");
  command.example("trireme explain runs/first");
  command.example("trireme explain --list");
  command.example("trireme explain recipes/shakespeare_gpt.toml -n 4 parallel.tensor=2");
  const auto words = std::make_shared<ExplainWords>();
  command.words("[RECIPE] key=value",
                "the recipe or the folder of a job, and settings that change it",
                [words](const std::vector<std::string>& all) -> std::string {
                  for (const std::string& word : all) {
                    if (words->recipe.recipe.empty() && word.find('=') == std::string::npos) {
                      words->recipe.recipe = word;
                    } else {
                      words->recipe.overrides.push_back(word);
                    }
                  }
                  return words->recipe.recipe.empty() && !words->is_list
                             ? "RECIPE is missing; --list shows all settings there are"
                             : "";
                });
  command.option("--key", "KEY", "only this setting", set_text(words->key));
  command.option("--worker", "PROGRAM",
                 "a program with models, data, losses or strategies of your own",
                 set_text(words->worker));
  command.option(
      "-n,--ranks", "N",
      "instead of the settings, the mesh of N ranks: places, hosts, layouts of weights",
      [words](const std::string& text) { return set_ranks(words->ranks.emplace(), text); });
  command.option("--hosts", "HOST:N,...", "the same for N ranks on each of these hosts",
                 [words](const std::string& text) {
                   words->hosts.hosts = text;
                   return std::string();
                 });
  command.flag("--list", "all settings of all kinds, without a recipe", words->is_list);
  command.flag("--json", "a JSON array with an object for each setting, or one object for a mesh",
               words->is_json);
  command.action([words] { return explain(*words); });
  return command;
}

}  // namespace trireme::cli
