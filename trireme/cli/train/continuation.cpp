#include "trireme/cli/train/continuation.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "trireme/base/text/shell_word.h"

namespace trireme::cli {
namespace {

constexpr std::string_view kAllowChanges = "--allow-changes";
constexpr std::array<std::string_view, 3> kReplaced = {"--output", "--chaos", kAllowChanges};

bool is_option(std::string_view word, std::string_view option) {
  return word == option || (word.starts_with(option) && word[option.size()] == '=');
}

void add_key(std::string& keys, std::string_view key) {
  if (key.empty() || ("," + keys + ",").find("," + std::string(key) + ",") != std::string::npos) {
    return;
  }
  keys += (keys.empty() ? "" : ",") + std::string(key);
}

}  // namespace

std::string Continuation::command(const std::vector<Change>& changes) const {
  const auto is_changed = [&](const std::string& word) {
    return std::ranges::any_of(changes,
                               [&](const Change& one) { return is_option(word, one.key); });
  };
  std::string line = "cd " + shell_word(folder.string());
  for (const Move& move : moves) {
    line += " && mv " + shell_word(move.from.string()) + " " + shell_word(move.to.string());
  }
  line += " && " + shell_word(program) + " train";
  std::string allowed;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (is_option(word, "--resume") || is_changed(word)) continue;
    const auto option =
        std::ranges::find_if(kReplaced, [&](auto name) { return is_option(word, name); });
    if (option == kReplaced.end()) {
      line += " " + shell_word(word);
      continue;
    }
    const bool is_joined = word != *option;
    if (!is_joined && ++i == words.size()) break;
    if (*option == kAllowChanges) {
      allowed = is_joined ? word.substr(kAllowChanges.size() + 1) : words[i];
    }
  }
  for (const Change& one : changes) {
    line += " " + shell_word(one.key + "=" + one.value);
    if (one.needs_permission && has_checkpoint) add_key(allowed, one.key);
  }
  line += " --output " + shell_word(output.string()) +
          (has_checkpoint ? " --resume" : " --resume=auto");
  return allowed.empty() ? line : line + " " + std::string(kAllowChanges) + " " + allowed;
}

}  // namespace trireme::cli
