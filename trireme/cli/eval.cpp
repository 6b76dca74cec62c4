#include "trireme/cli/commands.h"
#include "trireme/cli/train/answer.h"

namespace trireme::cli {

Command eval_command() {
  Command command("eval", "Evaluate a trained model", "trireme eval runs/fashion_cnn");
  command.example("trireme eval runs/fashion_cnn --checkpoint best --json");
  command.example("trireme eval runs/a --against runs/b");
  const auto words = answer_words(command, "eval");
  const auto is_json = std::make_shared<bool>(false);
  const auto is_saved = std::make_shared<bool>(false);
  command.flag("--json", "one JSON object instead of tables", *is_json);
  command.flag("--save", "write evaluation.json into the job's folder, for trireme plot",
               *is_saved);
  command.option("--with", "DIR,DIR", "evaluate these jobs and DIR together, as an ensemble",
                 hand_on(words, "--with"));
  command.option("--snapshots", "N", "evaluate the last N checkpoints together, as an ensemble",
                 hand_on(words, "--snapshots"));
  command.option("--ensemble", "average|vote|stack",
                 "how an ensemble combines its models (default average)",
                 hand_on(words, "--ensemble"));
  command.option("--against", "DIR", "compare with another job: do they differ by more than chance",
                 hand_on(words, "--against"));
  command.option("--seed", "N", "seed of the bootstrap of --against (default 1)",
                 hand_on(words, "--seed"));
  command.option("--bleu", "N", "language models: BLEU-4 of N continuations",
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
