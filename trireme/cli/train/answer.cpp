#include "trireme/cli/train/answer.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::cli {

Setter hand_on(const std::shared_ptr<AnswerWords>& words, const std::string& option) {
  return [words, option](const std::string& text) {
    words->options.insert(words->options.end(), {option, text});
    return std::string();
  };
}

Setter checked_checkpoint(Setter set) {
  return [set = std::move(set)](const std::string& text) {
    const bool is_step = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    if (is_step || text == "best") return set(text);
    return "--checkpoint " + text + ": use best, or the step of a checkpoint";
  };
}

std::shared_ptr<AnswerWords> answer_words(Command& command, const std::string& verb) {
  auto words = std::make_shared<AnswerWords>();
  words->verb = verb;
  command.argument("DIR", "the folder of a trained job", set_text(words->output));
  command.words("key=value", "settings that replace those of the recipe",
                [words](const std::vector<std::string>& all) {
                  words->overrides = all;
                  return std::string();
                });
  command.option("--checkpoint", "best|N", kCheckpointHelp,
                 checked_checkpoint(hand_on(words, "--checkpoint")));
  command.option("--worker", "PROGRAM",
                 "a program with models, data, losses or strategies of your own",
                 set_text(words->worker));
  return words;
}

void become_worker(const AnswerWords& words) {
  std::vector<std::string> all{words.verb, "--output", words.output};
  all.insert(all.end(), words.options.begin(), words.options.end());
  for (const std::string& text : words.overrides) all.insert(all.end(), {"--set", text});
  become_worker(Worker(words.worker), std::move(all));
}

void become_worker(const Worker& worker, std::vector<std::string> words) {
  words.insert(words.begin(), worker.path().string());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(worker.path().c_str(), argv.data());
  throw system_error("starting " + worker.path().string(), errno);
}

}  // namespace trireme::cli
