#include "trireme/cli/commands.h"
#include "trireme/cli/train/answer.h"

namespace trireme::cli {

Command predict_command() {
  Command command("predict", "Predict new samples of a file or folder with a trained model",
                  "trireme predict runs/irises new.csv -o predicted.csv");
  command.example("trireme predict runs/fashion_cnn pictures --format jsonl");
  const auto words = answer_words(command, "predict");
  command.argument("INPUT",
                   "CSV or JSON lines of a table, an image or a folder of images, or lines of text",
                   hand_on(words, "--input"));
  command.words("key=value", "settings that replace those of the recipe",
                [words](const std::vector<std::string>& all) -> std::string {
                  words->overrides = all;
                  for (const std::string& word : all) {
                    if (word.find('=') != std::string::npos) continue;
                    return "unexpected " + word +
                           ": one INPUT is predicted; name a folder to predict all images in it";
                  }
                  return {};
                });
  command.option("--format", "csv|jsonl", "format of the predictions (default csv)",
                 hand_on(words, "--format"));
  command.option("-o,--output", "FILE", "the file to write (default: standard output)",
                 hand_on(words, "--file"));
  command.action([words] {
    become_worker(*words);
    return 0;
  });
  return command;
}

}  // namespace trireme::cli
