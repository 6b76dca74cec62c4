#include "tests/soak/trial.h"

#include <poll.h>

#include "tests/soak/subject.h"
#include "tests/soak/tormentor.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/checkpoint/format/diff.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/format/reader.h"

namespace trireme::soak {
namespace {

namespace fs = std::filesystem;
namespace format = checkpoint::format;

constexpr std::int64_t kSamples = 4800;
constexpr auto kLookEvery = std::chrono::milliseconds(10);
constexpr auto kLeftMax = std::chrono::seconds(10);
// A job that reports nothing for this long counts as hung.
constexpr auto kSilenceMax = std::chrono::seconds(90);

// Follows the job until it ends; returns false if it hangs.
bool follow(Subject& subject, const Trial& trial, Tormentor& tormentor, StepBook& book) {
  TimePoint moved = steady_clock().now();
  while (!subject.status()) {
    const auto lines = subject.new_lines();
    for (const monitor::StepLine& line : lines) book.add(line);
    const TimePoint now = steady_clock().now();
    if (!lines.empty()) moved = now;
    if (now - moved > kSilenceMax) return false;
    const bool is_over =
        book.last() >= trial.steps || !trial.is_enough || trial.is_enough(tormentor.faults());
    tormentor.look(is_over);
    ::poll(nullptr, 0, static_cast<int>(kLookEvery.count()));
  }
  for (const monitor::StepLine& line : subject.new_lines()) book.add(line);
  return true;
}

std::string tail_of(const fs::path& path) {
  constexpr std::size_t kTail = 2000;
  std::error_code error;
  if (!fs::exists(path, error)) return "";
  const std::string text = read_file(path);
  return text.substr(text.size() > kTail ? text.size() - kTail : 0);
}

void compare_bits(const fs::path& a, const fs::path& b, std::vector<std::string>& mistakes) {
  const auto newest = [](const fs::path& job) {
    const auto all = format::list_checkpoints(job / "checkpoints");
    if (all.empty()) throw Error(ErrorCode::NotFound, job.string() + " has no checkpoint");
    return all.back().path;
  };
  try {
    const format::Reader left(newest(a)), right(newest(b));
    if (left.manifest().step != right.manifest().step) {
      mistakes.push_back("the last checkpoint is of step " + std::to_string(left.manifest().step));
    }
    const auto all = format::differences(left, right);
    if (all.empty()) return;
    mistakes.push_back(
        std::to_string(all.size()) + " of " + std::to_string(left.manifest().tensors.size()) +
        " tensors differ from the undisturbed job's, " + all.front().name + " first");
  } catch (const Error& error) {
    mistakes.push_back(error.message());
  }
}

// In a trial without faults, a long heartbeat timeout prevents a worker on a busy machine from
// being evicted as frozen.
std::vector<std::string> settings_of(const Trial& trial) {
  std::vector<std::string> all{"sync.kind=" + trial.draw.kind};
  if (trial.draw.faults.empty()) all.emplace_back("elastic.heartbeat=60s");
  return all;
}

}  // namespace

std::string trial_recipe(std::int64_t steps) {
  return "[model]\nkind = \"gpt\"\nhidden_size = 64\nnum_layers = 2\nnum_heads = 2\n"
         "[data]\nkind = \"synthetic\"\ntask = \"tokens\"\ncount = " +
         std::to_string(kSamples) +
         "\ntest_count = 48\nclasses = 40\nsizes = [32]\n"
         "[train]\nglobal_batch_size = 24\nsteps = " +
         std::to_string(steps) +
         "\nlogical_ranks = 12\n"
         "[optim]\nkind = \"adamw\"\nlr = 0.001\nmax_grad_norm = 1.0\n"
         "[checkpoint]\nevery = 50\n[eval]\nevery = 100\n"
         "[elastic]\nenabled = true\nheartbeat = \"1 s\"\n";
}

Verdict run_trial(const Trial& trial) {
  const TimePoint began = steady_clock().now();
  Verdict verdict;
  Subject subject({.folder = trial.folder,
                   .recipe = trial.recipe,
                   .settings = settings_of(trial),
                   .workers = trial.workers,
                   .chaos = trial.draw.chaos,
                   .program = trial.program});
  Tormentor tormentor(subject, verdict.book, trial.draw);
  if (!follow(subject, trial, tormentor, verdict.book)) {
    verdict.mistakes.push_back("no step for 90 s, after step " +
                               std::to_string(verdict.book.last()));
  } else if (const int code = subject.status().value_or(0); code != 0) {
    verdict.mistakes.push_back("the job ended with " + std::to_string(code) + ": " +
                               tail_of(subject.output()));
  } else {
    for (const std::string& left : subject.leftovers(Deadline::after(kLeftMax))) {
      verdict.mistakes.push_back("left behind: " + left);
    }
    for (std::string& one : verdict.book.mistakes(trial.steps, kSamples, trial.undisturbed)) {
      verdict.mistakes.push_back(std::move(one));
    }
    if (!trial.undisturbed_job.empty()) {
      compare_bits(subject.job(), trial.undisturbed_job, verdict.mistakes);
    }
  }
  verdict.faults = tormentor.list();
  verdict.seconds = std::chrono::duration<double>(steady_clock().now() - began).count();
  return verdict;
}

}  // namespace trireme::soak
