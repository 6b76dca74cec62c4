#include "trireme/cli/commands.h"
#include "trireme/cli/train/answer.h"

namespace trireme::cli {

Command generate_command() {
  Command command("generate", "Let a trained language model write, or a gan or an autoencoder draw",
                  "trireme generate runs/shakespeare_gpt --prompt 'To be' --count 200");
  const auto words = answer_words(command, "generate");
  command.option("--prompt", "TEXT", "what it goes on with", hand_on(words, "--prompt"));
  command.option("--count", "N",
                 "tokens to write (default 200), or pictures of each class (default 8)",
                 hand_on(words, "--count"));
  command.option("--temperature", "T", "0: always the likeliest (default 0.8)",
                 hand_on(words, "--temperature"));
  command.option("--top-k", "K", "draw from the K likeliest only", hand_on(words, "--top-k"));
  command.option("--top-p", "P", "draw from the fewest that reach P together",
                 hand_on(words, "--top-p"));
  command.option("--seed", "S", "the same seed writes the same (default 1)",
                 hand_on(words, "--seed"));
  command.option("--only", "CLASS,CLASS", "draw these alone, by name or number (default: all)",
                 hand_on(words, "--only"));
  command.option("--to", "DIR", "write pictures as IDX files there, to train on with data.extra",
                 hand_on(words, "--to"));
  command.action([words] {
    become_worker(*words);
    return 0;
  });
  return command;
}

}  // namespace trireme::cli
