#include "trireme/cli/commands.h"
#include "trireme/cli/train/answer.h"

namespace trireme::cli {

Command generate_command() {
  Command command("generate", "Generate text with a language model, or pictures with a GAN",
                  "trireme generate runs/shakespeare_gpt --prompt 'To be' --count 200");
  command.example("trireme generate runs/fashion_gan --count 1000 --only Shirt,Coat --to made");
  const auto words = answer_words(command, "generate");
  command.option("--prompt", "TEXT", "the text to continue", hand_on(words, "--prompt"));
  command.option("--count", "N",
                 "tokens to write (default 200), or pictures of each class (default 8)",
                 hand_on(words, "--count"));
  command.option("--temperature", "T",
                 "sampling temperature; 0: always the most likely token (default 0.8)",
                 hand_on(words, "--temperature"));
  command.option("--top-k", "K", "sample from the K most likely tokens", hand_on(words, "--top-k"));
  command.option("--top-p", "P",
                 "sample from the most likely tokens that reach probability P together",
                 hand_on(words, "--top-p"));
  command.option("--seed", "S", "seed of the sampling (default 1)", hand_on(words, "--seed"));
  command.option("--only", "CLASS,CLASS", "only these classes, by name or number (default: all)",
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
