#include "trireme/cli/submit/batch_script.h"

#include <algorithm>
#include <string_view>

#include "trireme/base/text/shell_word.h"

namespace trireme::cli {
namespace {

// A newline in an option would start a new line of the script.
bool is_one_word(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c != '\x7f'; });
}

constexpr const char* kListen = R"(job=
told=
ended=
ask() { [ -z "$job" ] || kill -TERM "$job"; }
trap 'told=yes; ask' USR1
trap 'ended=yes; ask' TERM
)";

constexpr const char* kWait = R"(job=$!
if [ -n "$told$ended" ]; then ask; fi
wait "$job"
code=$?
# A signal ends the wait, not the job.
while kill -0 "$job" 2>/dev/null; do
  wait "$job"
  code=$?
done
)";

// Slurm requeues a preempted job only if it has to kill it; if the job saves and ends before that,
// Slurm considers it finished. The script therefore requeues it. ISO dates sort as strings: a
// preemption of an earlier run is older than the start of this one.
constexpr const char* kAgain = R"(preempted() {
  scontrol show job "$SLURM_JOB_ID" 2>/dev/null | tr ' ' '\n' | {
    began= asked=
    while IFS='=' read -r name value; do
      case "$name" in StartTime) began=$value ;; PreemptTime) asked=$value ;; esac
    done
    case "$asked" in [0-9]*) [[ ! "$asked" < "$began" ]] ;; *) false ;; esac
  }
}
# The time is up, or others go first: the next turn goes on from the checkpoint.
if [ "$code" -ne 0 ] && { [ -n "$told" ] || preempted; }; then scontrol requeue "$SLURM_JOB_ID"; fi
)";

// The part of the warning time that the ranks have; the rest is for the launcher and the script to
// end.
int grace_of(int warning) {
  constexpr int kToEnd = 10;
  return std::max(warning - kToEnd, (warning + 1) / 2);
}

}  // namespace

std::string BatchScript::output() const {
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] == "--output" && i + 1 < command.size()) return command[i + 1];
    constexpr std::string_view kJoined = "--output=";
    if (command[i].starts_with(kJoined)) return command[i].substr(kJoined.size());
  }
  return {};
}

bool BatchScript::has_grace() const {
  for (const std::string& word : command) {
    if (word == "--") break;
    if (word == "--grace" || word.starts_with("--grace=")) return true;
  }
  return false;
}

std::string BatchScript::mistake() const {
  const bool is_ours = !command.empty() && (command[0] == "train" || command[0] == "run");
  if (!is_ours) return "what to submit is missing: trireme submit --nodes 2 -- train recipe.toml";
  for (const std::string& word : command) {
    if (word == "--") break;
    for (const char* option : {"-n", "--ranks", "--hosts", "--hostfile", "--slurm"}) {
      if (word == option)
        return word + ": Slurm says where ranks run; see --nodes and --ranks-each";
    }
  }
  if (command[0] == "train" && is_requeued && output().empty()) {
    return "a job that may be queued again needs train --output DIR to go on from, or --no-requeue";
  }
  for (const std::string& word : {name, time, partition}) {
    if (!is_one_word(word)) return "'" + word + "': blanks cannot be in it";
  }
  for (const std::string& word : more) {
    if (!is_one_word(word) || !word.starts_with('-'))
      return "'" + word + "' is no option of sbatch";
  }
  return {};
}

std::string BatchScript::text() const {
  std::string out = std::string("#!/bin/bash\n") + kMark + "\n";
  const auto say = [&](const std::string& option) { out += "#SBATCH " + option + "\n"; };
  say("--job-name=" + name);
  say("--nodes=" + std::to_string(nodes));
  say("--ntasks-per-node=" + std::to_string(ranks_each));
  if (cores_each > 0) say("--cpus-per-task=" + std::to_string(cores_each));
  if (!time.empty()) say("--time=" + time);
  if (!partition.empty()) say("--partition=" + partition);
  if (warning > 0) say("--signal=B:USR1@" + std::to_string(warning));
  say(is_requeued ? "--requeue" : "--no-requeue");
  say("--open-mode=append");
  for (const std::string& option : more) say(option);
  out += std::string("\n") + kListen + "again=()\n";
  if (command[0] == "train" && is_requeued) {
    out += "if [ \"${SLURM_RESTART_COUNT:-0}\" -gt 0 ] && [ -e " +
           shell_quoted(output() + "/config.toml") + " ]; then again=(--resume=auto); fi\n";
  }
  out += shell_quoted(program) + " " + command[0] + " --slurm \"${again[@]}\"";
  if (warning > 0 && !has_grace()) out += " --grace " + std::to_string(grace_of(warning));
  for (std::size_t i = 1; i < command.size(); ++i) out += " " + shell_quoted(command[i]);
  out += " &\n";
  out += kWait;
  if (is_requeued) out += kAgain;
  return out + "exit \"$code\"\n";
}

}  // namespace trireme::cli
