#include "trireme/cli/completion/answer.h"

#include <algorithm>
#include <cstdio>

#include "trireme/base/error.h"
#include "trireme/cli/completion/candidates.h"
#include "trireme/cli/train/worker.h"
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/job/remote.h"

namespace trireme::cli::completion {
namespace {

const char* name_of(Files files) {
  switch (files) {
    case Files::Any:
      return "files";
    case Files::Folders:
      return "folders";
    case Files::Recipes:
      return "recipes";
    case Files::Programs:
      return "programs";
    case Files::None:
      break;
  }
  return "none";
}

std::vector<Candidate> jobs() {
  std::vector<Candidate> found;
  for (const auto& [folder, card] : cluster::launch::job::running_jobs()) {
    found.push_back({card.name, card.command});
  }
  return found;
}

config::Schema schema(const std::string& worker) {
  return Worker(worker).schema();
}

// An answer has one line for each candidate.
std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return text;
}

}  // namespace

int answer(std::vector<Command>& commands, const std::vector<std::string>& words) {
  try {
    std::vector<Syntax> all;
    for (Command& command : commands) {
      if (command.syntax().is_forwarded && words.size() > 1 && command.name() == words.front()) {
        std::vector<std::string> request{kRequest};
        request.insert(request.end(), words.begin() + 1, words.end());
        return command.run(request);
      }
      all.push_back(command.syntax());
    }
    const Candidates found = candidates(all, words, {.jobs = jobs, .schema = schema});
    std::puts(name_of(found.files));
    for (const Candidate& one : found.words) {
      std::printf("%s\t%s\n", one_line(one.word).c_str(), one_line(one.help).c_str());
    }
  } catch (const std::exception&) {
    std::puts("none");
  }
  return 0;
}

}  // namespace trireme::cli::completion
