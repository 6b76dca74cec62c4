#include <cstdio>
#include <memory>

#include "bench/commands.h"
#include "bench/launch.h"
#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cli/program.h"

namespace trireme::bench {
namespace {

constexpr auto kTimeMax = std::chrono::minutes(30);

int measure(const std::string& json) {
  const std::filesystem::path program = beside("trireme-bench-checkpoint");
  if (program.empty()) {
    throw Error(ErrorCode::NotFound, "trireme-bench-checkpoint is not beside " +
                                         beside("trireme").string() +
                                         "; it is part of a build with torch and TRIREME_TESTS=ON");
  }
  const TemporaryFolder folder("bench-checkpoint");
  return cli::run_program({.words = {program.string(), folder.path().string(), json}},
                          Deadline::after(kTimeMax),
                          [](std::string_view line) {
                            std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
                            std::fflush(stdout);
                          })
      .code;
}

}  // namespace

cli::Command checkpoint_command() {
  cli::Command command("bench checkpoint",
                       "Measure the cost of writing and reading checkpoints of gpt-wide",
                       "trireme bench checkpoint --json checkpoint.jsonl");
  const auto json = std::make_shared<std::string>();
  command.option("--json", "FILE", "also write one JSON object per case there",
                 cli::set_text(*json));
  command.action([json] { return measure(*json); });
  return command;
}

}  // namespace trireme::bench
