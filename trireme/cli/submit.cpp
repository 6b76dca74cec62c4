#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/cli/commands.h"
#include "trireme/cli/submit/batch_script.h"
#include "trireme/cluster/launch/rank/program.h"

namespace trireme::cli {
namespace {

namespace fs = std::filesystem;

struct SubmitWords {
  BatchScript script;
  std::string file;
  bool is_only_written = false;
  bool is_once = false;
  bool is_slurm = true;  // Slurm is the only supported scheduler
};

Setter set_count(std::string name, int& target, int least) {
  return [=, &target](const std::string& text) -> std::string {
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, target);
    if (read.ec == std::errc() && read.ptr == end && target >= least && target <= 100'000) {
      return {};
    }
    return name + " " + text + ": a number from " + std::to_string(least) + " to 100000";
  };
}

void write_script(const fs::path& file, const std::string& text) {
  if (fs::exists(file) && read_file(file).find(BatchScript::kMark) == std::string::npos) {
    throw Error(ErrorCode::InvalidInput,
                file.string() + " is not a script of ours; name another with --script");
  }
  write_file_atomically(file, text, {.mode = 0755});
}

int submit(SubmitWords words) {
  words.script.is_requeued = !words.is_once;
  words.script.program = fs::read_symlink("/proc/self/exe").string();
  if (const std::string mistake = words.script.mistake(); !mistake.empty()) {
    throw Error(ErrorCode::InvalidInput, mistake);
  }
  const std::string file = words.file.empty() ? words.script.name + ".sbatch" : words.file;
  fs::path sbatch;
  if (!words.is_only_written) sbatch = cluster::launch::find_program("sbatch");
  write_script(file, words.script.text());
  std::printf("wrote %s\n", file.c_str());
  std::fflush(stdout);
  if (words.is_only_written) return 0;
  execl(sbatch.c_str(), "sbatch", file.c_str(), static_cast<char*>(nullptr));
  throw system_error("starting " + sbatch.string(), errno);
}

}  // namespace

Command submit_command() {
  Command command("submit", "Write a batch script for Slurm and submit it",
                  "trireme submit --nodes 2 --ranks-each 4 -- train recipe.toml --output runs/a");
  command.example("trireme submit --write-only --time 2:00:00 -- run ./my_program");
  const auto words = std::make_shared<SubmitWords>();
  BatchScript& script = words->script;
  command.flag("--slurm", "submit to Slurm, which is also the default", words->is_slurm);
  command.option("--nodes", "N", "number of nodes (default 1)",
                 set_count("--nodes", script.nodes, 1));
  command.option("--ranks-each", "N", "ranks per node (default 1)",
                 set_count("--ranks-each", script.ranks_each, 1));
  command.option("--cores-each", "N", "cores per rank (default: Slurm's)",
                 set_count("--cores-each", script.cores_each, 1));
  command.option("--name", "NAME", "name of the job in Slurm (default trireme)",
                 set_text(script.name));
  command.option("--time", "TIME", "time limit, as Slurm writes it: 2-12:00:00",
                 set_text(script.time));
  command.option("--partition", "NAME", "Slurm's partition", set_text(script.partition));
  command.option("--warning", "SECONDS",
                 "time before the limit at which the job saves and ends (default 60)",
                 set_count("--warning", script.warning, 0));
  command.flag("--no-requeue", "do not queue it again when its time is up or it is preempted",
               words->is_once);
  command.option("--sbatch", "OPTIONS", "further options of sbatch, such as \"--gres=gpu:4\"",
                 [words](const std::string& text) {
                   std::istringstream in(text);
                   for (std::string word; in >> word;) words->script.more.push_back(word);
                   return std::string();
                 });
  command.option("--script", "FILE", "the script (default: the name and .sbatch)",
                 set_text(words->file));
  command.flag("--write-only", "write the script and do not submit it", words->is_only_written);
  command.program("train|run", "the command to submit, and its own options",
                  [words](const std::vector<std::string>& all) {
                    words->script.command = all;
                    return std::string();
                  });
  command.action([words] { return submit(*words); });
  return command;
}

}  // namespace trireme::cli
