#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/commands.h"
#include "bench/launch.h"
#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cli/json_file.h"
#include "trireme/cli/program.h"

namespace trireme::bench {
namespace {

using Json = nlohmann::json;

constexpr auto kTimeMax = std::chrono::minutes(30);

struct CheckpointOptions {
  std::string json, folder, threads = "0";
};

void print(const Json& line) {
  const std::string name = line.value("case", "");
  if (name == "stall") {
    std::printf(
        "stall    %.1f ms for %.0f MB, %.2f x a memcpy of it (at most 1.5); written in %.2f s\n",
        line.value("seconds", 0.0) * 1e3, line.value("bytes", 0.0) / 1e6, line.value("ratio", 0.0),
        line.value("written_seconds", 0.0));
  } else if (name == "every10") {
    std::printf(
        "every10  %.3f steps per second with a checkpoint every 10, %.3f without: %.1f %% lost (at "
        "most 5)\n",
        line.value("steps_per_second_saving", 0.0), line.value("steps_per_second", 0.0),
        line.value("lost", 0.0) * 100);
  } else if (name == "load") {
    std::printf(
        "load     %.2f GB/s, written by 4, checked and read by 3 (at least 1); the check took %.0f "
        "ms%s\n",
        line.value("bytes_per_second", 0.0) / 1e9, line.value("checking_seconds", 0.0) * 1e3,
        line.value("is_right", false) ? "" : "; WRONG BYTES");
  }
}

int measure(const CheckpointOptions& options) {
  const cli::File json = cli::open_json(options.json);
  const std::filesystem::path program = beside("trireme-bench-checkpoint");
  if (program.empty()) {
    throw Error(ErrorCode::NotFound, "trireme-bench-checkpoint is not beside " +
                                         beside("trireme").string() +
                                         "; it is part of a build with torch and TRIREME_TESTS=ON");
  }
  std::optional<TemporaryFolder> own;
  if (options.folder.empty()) own.emplace("bench-checkpoint");
  const cli::ProgramEnd end = cli::run_program(
      {.words = {program.string(), own ? own->path().string() : options.folder, options.threads}},
      Deadline::after(kTimeMax), [&](std::string_view text) {
        const Json line = Json::parse(text, nullptr, false);
        if (!line.is_object()) return;
        print(line);
        std::fflush(stdout);
        if (json) std::fprintf(json.get(), "%.*s\n", static_cast<int>(text.size()), text.data());
      });
  return end.code;
}

}  // namespace

cli::Command checkpoint_command() {
  cli::Command command("bench checkpoint",
                       "Measure the cost of writing and reading checkpoints of gpt-wide",
                       "trireme bench checkpoint --json checkpoint.jsonl");
  const auto options = std::make_shared<CheckpointOptions>();
  command.option("--json", "FILE", "also write one JSON object per case there",
                 cli::set_text(options->json));
  command.option("--folder", "DIR", "folder for the checkpoints (default: a temporary folder)",
                 cli::set_text(options->folder));
  command.option("--threads", "N", "threads that train (default: all cores)",
                 cli::set_text(options->threads));
  command.action([options] { return measure(*options); });
  return command;
}

}  // namespace trireme::bench
