#include "trireme/cli/commands.h"
#include "trireme/cli/train/answer.h"

namespace trireme::cli {

Command eval_command() {
  Command command("eval", "Say how good a trained model is", "trireme eval runs/fashion_cnn");
  const auto words = answer_words(command, "eval");
  const auto is_json = std::make_shared<bool>(false);
  const auto is_saved = std::make_shared<bool>(false);
  command.flag("--json", "one JSON object instead of tables", *is_json);
  command.flag("--save", "write evaluation.json into the job's folder, for trireme plot",
               *is_saved);
  command.action([words, is_json, is_saved] {
    if (*is_json) words->options.emplace_back("--json");
    if (*is_saved) words->options.emplace_back("--save");
    become_worker(*words);
    return 0;
  });
  return command;
}

}  // namespace trireme::cli
