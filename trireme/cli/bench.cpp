#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "trireme/base/error.h"
#include "trireme/cli/commands.h"

namespace trireme::cli {
namespace {

constexpr const char* kProgram = "trireme-bench";

// Becomes the program of the benchmarks, whose exit status is therefore this one's.
int start(const std::vector<std::string>& words) {
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string program = self.parent_path() / kProgram;
  std::vector<char*> all{const_cast<char*>(program.c_str())};
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  execv(program.c_str(), all.data());
  if (errno != ENOENT) throw system_error(program, errno);
  throw Error(ErrorCode::NotFound, std::string(kProgram) + " is not beside " + self.string() +
                                       "; build it with TRIREME_TESTS=ON, and install it there");
}

}  // namespace

Command bench_command() {
  Command command("bench", "Measure collectives, training, codecs, checkpoints and recovery",
                  "trireme bench comm --ranks 2");
  command.forward(start);
  return command;
}

}  // namespace trireme::cli
