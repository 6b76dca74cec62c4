#include "trireme/cli/commands.h"
#include "trireme/cli/train/answer.h"

namespace trireme::cli {

Command predict_command() {
  Command command("predict", "Predict the samples of a file or folder with a trained model",
                  "trireme predict runs/irises new.csv -o predicted.csv");
  const auto words = answer_words(command, "predict");
  command.argument("INPUT",
                   "CSV or JSON lines of a table, an image or a folder of images, or lines of text",
                   hand_on(words, "--input"));
  command.words("key=value", "settings that change the recipe's",
                [words](const std::vector<std::string>& all) -> std::string {
                  words->overrides = all;
                  for (const std::string& word : all) {
                    if (word.find('=') != std::string::npos) continue;
                    return "unexpected " + word +
                           ": one INPUT is predicted; name a folder to predict all images in it";
                  }
                  return {};
                });
  command.option("--format", "FORMAT", "csv (default) or jsonl", hand_on(words, "--format"));
  command.option("-o,--output", "FILE", "where predictions go (default: standard output)",
                 hand_on(words, "--file"));
  command.action([words] {
    become_worker(*words);
    return 0;
  });
  return command;
}

}  // namespace trireme::cli
