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
  command.option("--with", "DIR,DIR", "more jobs: what all of them reach together",
                 hand_on(words, "--with"));
  command.option("--snapshots", "N", "the job's last N checkpoints together",
                 hand_on(words, "--snapshots"));
  command.option("--ensemble", "HOW", "they answer by average (default), vote or stack",
                 hand_on(words, "--ensemble"));
  command.option("--against", "DIR", "another job: whether they differ by more than chance",
                 hand_on(words, "--against"));
  command.option("--seed", "N", "of the bootstrap behind --against (default 1)",
                 hand_on(words, "--seed"));
  command.option("--bleu", "N", "of a model of texts: BLEU-4 of N continuations",
                 hand_on(words, "--bleu"));
  command.action([words, is_json, is_saved] {
    if (*is_json) words->options.emplace_back("--json");
    if (*is_saved) words->options.emplace_back("--save");
    become_worker(*words);
    return 0;
  });
  return command;
}

}  // namespace trireme::cli
