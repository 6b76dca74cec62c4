#include "tests/soak/subject.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>

#include "trireme/base/error.h"
#include "trireme/cluster/launch/host/process_tree.h"

namespace trireme::soak {
namespace {

namespace fs = std::filesystem;
namespace host = cluster::launch::host;

constexpr const char* kRuntimeVariable = "XDG_RUNTIME_DIR";
constexpr auto kEndMax = std::chrono::seconds(10);

std::string content_of(pid_t pid, const char* name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The value of a variable in a process's environment.
std::optional<std::string> variable_of(const std::string& environment, const std::string& name) {
  const std::string all = std::string(1, '\0') + environment;
  const std::string key = std::string(1, '\0') + name + "=";
  const std::size_t begin = all.find(key);
  if (begin == std::string::npos) return std::nullopt;
  const std::size_t from = begin + key.size();
  return all.substr(from, all.find('\0', from) - from);
}

std::vector<std::string> words_of(const Subject::Options& options, const fs::path& job) {
  std::vector<std::string> words{"trireme",
                                 "train",
                                 options.recipe.string(),
                                 "-n",
                                 std::to_string(options.workers),
                                 "--elastic",
                                 "--output",
                                 job.string(),
                                 "--restarts",
                                 "1000000"};
  if (!options.chaos.empty()) words.insert(words.end(), {"--chaos", options.chaos});
  words.insert(words.end(), options.settings.begin(), options.settings.end());
  return words;
}

[[noreturn]] void become(const fs::path& program, std::vector<std::string> words, int output) {
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  ::_exit(127);
}

}  // namespace

Subject::Subject(const Options& options) : folder_(options.folder), runtime_("soak-runtime") {
  fs::create_directories(folder_);
  const int log = ::open(output().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log < 0) throw system_error("opening " + output().string(), errno);
  const Descriptor owner(log);
  const std::vector<std::string> words = words_of(options, job());
  const std::string steps = folder_ / "steps.log";
  launcher_ = ::fork();
  if (launcher_ < 0) throw system_error("fork", errno);
  if (launcher_ > 0) return;
  // The soak test handles Ctrl-C itself; if it is killed, the job receives SIGTERM.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  ::setenv(kRuntimeVariable, runtime_.path().c_str(), 1);
  ::setenv(monitor::kStepLogVariable, steps.c_str(), 1);
  ::unsetenv("TRIREME_CHAOS");
  become(options.program, words, log);
}

Subject::~Subject() {
  const Deadline deadline = Deadline::after(kEndMax);
  if (!status()) ::kill(launcher_, SIGKILL);
  while (!deadline.is_past()) {
    const std::vector<pid_t> left = processes();
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    if (left.empty() && status()) return;
    ::poll(nullptr, 0, 10);
  }
}

std::optional<int> Subject::status() {
  int status = 0;
  if (!status_ && ::waitpid(launcher_, &status, WNOHANG) == launcher_) {
    status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  return status_;
}

// A child that a worker forked inherits its number; the worker is the older process.
std::map<int, pid_t> Subject::workers() const {
  std::map<int, pid_t> found;
  std::map<int, unsigned long long> starts;
  for (const host::Process& process : host::descendants_of(launcher_, host::list_processes())) {
    if (process.is_dying) continue;
    const auto text = variable_of(content_of(process.pid, "environ"), "TRIREME_WORKER");
    int number = -1;
    if (text) std::from_chars(text->data(), text->data() + text->size(), number);
    if (number < 0) continue;
    const auto [start, is_first] = starts.emplace(number, process.start);
    if (!is_first && start->second <= process.start) continue;
    start->second = process.start;
    found[number] = process.pid;
  }
  return found;
}

std::optional<pid_t> Subject::coordinator() const {
  for (const host::Process& process : host::descendants_of(launcher_, host::list_processes())) {
    if (process.is_dying) continue;
    const std::string words = content_of(process.pid, "cmdline");
    if (words.find(std::string("\0coordinate", 11)) != std::string::npos) return process.pid;
  }
  return std::nullopt;
}

std::vector<monitor::StepLine> Subject::new_lines() {
  std::vector<monitor::StepLine> lines;
  std::ifstream file(folder_ / "steps.log", std::ios::binary);
  file.seekg(static_cast<std::streamoff>(read_));
  for (std::string text; std::getline(file, text) && !file.eof();) {
    read_ += text.size() + 1;
    if (const auto line = monitor::StepLine::parse(text)) lines.push_back(*line);
  }
  return lines;
}

std::vector<pid_t> Subject::processes() const {
  std::vector<pid_t> found;
  for (const host::Process& process : host::list_processes()) {
    if (process.is_zombie || process.pid == launcher_) continue;
    const auto mark = variable_of(content_of(process.pid, "environ"), kRuntimeVariable);
    if (mark == runtime_.path().string()) found.push_back(process.pid);
  }
  return found;
}

std::vector<std::string> Subject::leftovers(Deadline deadline) const {
  while (true) {
    std::vector<std::string> left;
    for (const pid_t pid : processes()) {
      std::string words = content_of(pid, "cmdline");
      std::replace(words.begin(), words.end(), '\0', ' ');
      left.push_back("process " + std::to_string(pid) + ": " + words);
    }
    for (const auto& entry : fs::recursive_directory_iterator(runtime_.path())) {
      const fs::path path = entry.path().lexically_relative(runtime_.path());
      if (path != "trireme" && path != "trireme/.lock") left.push_back(entry.path());
    }
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/dev/shm", error)) {
      const std::string name = entry.path().filename();
      if (name.find("trireme") != std::string::npos) left.push_back(entry.path());
    }
    if (left.empty() || deadline.is_past()) return left;
    ::poll(nullptr, 0, 10);
  }
}

}  // namespace trireme::soak
