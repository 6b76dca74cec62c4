#include "trireme/train/chaos.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "trireme/base/config/read_value.h"
#include "trireme/base/error.h"
#include "trireme/checkpoint/format/part.h"
#include "trireme/cluster/membership/membership.h"
#include "trireme/parallel/data/data_parallel.h"
#include "trireme/train/step.h"

namespace trireme::train {
namespace {

constexpr const char* kHelp =
    "; such as \"kill rank=2 step=20; stop rank=1 step=30 for=2s; slow rank=0 factor=3\", with "
    "at=forward, backward, reduce, prepared, update, checkpoint or recovery";

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::InvalidInput, "--chaos: " + what + kHelp);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    if (const auto part = trimmed(text.substr(0, end)); !part.empty()) parts.push_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

const std::map<std::string_view, std::string_view>& points() {
  static const std::map<std::string_view, std::string_view> all{
      {"forward", kForward.name},
      {"backward", kBackward.name},
      {"reduce", kReduce.name},
      {"prepared", parallel::data::kPrepared.name},
      {"update", parallel::data::kUpdating.name},
      {"checkpoint", checkpoint::format::kPartHalfWritten.name},
      {"recovery", cluster::membership::kEpochDecided.name}};
  return all;
}

template <class T>
T number_in(std::string_view key, std::string_view text) {
  T number{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || number < 0) {
    refuse(std::string(key) + "=" + std::string(text) + " is no number");
  }
  return number;
}

void set(Mischief& mischief, std::string_view key, std::string_view value) {
  if (key == "rank") {
    mischief.worker = number_in<int>(key, value);
  } else if (key == "step") {
    mischief.step = number_in<std::int64_t>(key, value);
  } else if (key == "factor") {
    mischief.factor = number_in<double>(key, value);
  } else if (key == "for") {
    try {
      mischief.length = config::read_duration({std::string(value)});
    } catch (const Error& error) {
      refuse("for=" + std::string(value) + ": " + error.message());
    }
  } else if (key == "at") {
    const auto found = points().find(value);
    if (found == points().end()) refuse("no moment is called " + std::string(value));
    mischief.point = found->second;
  } else {
    refuse("no setting is called " + std::string(key));
  }
}

Mischief parse_one(std::string_view text) {
  const std::vector<std::string_view> words = split(text, ' ');
  Mischief mischief;
  if (words[0] == "kill") {
    mischief.kind = Mischief::Kind::Kill;
  } else if (words[0] == "stop") {
    mischief.kind = Mischief::Kind::Stop;
  } else if (words[0] == "slow") {
    mischief.kind = Mischief::Kind::Slow;
  } else {
    refuse("nothing is called " + std::string(words[0]));
  }
  bool has_rank = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string_view::npos) refuse(std::string(words[i]) + " has no value");
    set(mischief, words[i].substr(0, equals), words[i].substr(equals + 1));
    has_rank |= words[i].starts_with("rank=");
  }
  if (!has_rank) refuse("\"" + std::string(text) + "\" names no rank");
  return mischief;
}

double seconds_worked() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A stopped process cannot wake itself: a child does, and is gone.
void stop_for(Duration length) {
  const pid_t self = ::getpid();
  const pid_t child = length.count() > 0 ? ::fork() : 0;
  if (length.count() > 0 && child == 0) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(length);
    const timespec time{seconds.count(), (length - seconds).count()};
    ::nanosleep(&time, nullptr);
    ::kill(self, SIGCONT);
    ::_exit(0);
  }
  ::kill(self, SIGSTOP);
  if (child > 0) ::waitpid(child, nullptr, 0);
}

}  // namespace

std::vector<Mischief> parse_chaos(std::string_view text) {
  std::vector<Mischief> all;
  for (const std::string_view one : split(text, ';')) all.push_back(parse_one(one));
  return all;
}

Chaos::Chaos(int worker, std::vector<Mischief> all) : worker_(worker) {
  for (Mischief& one : all) {
    if (one.worker == worker) mine_.push_back(std::move(one));
  }
}

std::unique_ptr<Chaos> Chaos::from_environment() {
  const char* text = std::getenv("TRIREME_CHAOS");
  const char* worker = std::getenv("TRIREME_RANK");
  if (text == nullptr || *text == 0) return nullptr;
  return std::make_unique<Chaos>(worker == nullptr ? 0 : std::atoi(worker), parse_chaos(text));
}

void Chaos::begin_step(std::int64_t step) {
  slow_down();
  step_ = step;
  began_ = seconds_worked();
}

// What this thread did for the step before is to have taken a few times as long. Waiting for others
// does not count: two slow workers would slow each other down without end.
void Chaos::slow_down() {
  if (step_ < 0) return;
  for (const Mischief& one : mine_) {
    if (one.kind != Mischief::Kind::Slow || one.factor <= 1) continue;
    std::this_thread::sleep_for(
        std::chrono::duration<double>((seconds_worked() - began_) * (one.factor - 1)));
  }
}

void Chaos::reached(FaultPoint point, int) {
  for (Mischief& one : mine_) {
    if (one.kind == Mischief::Kind::Slow || one.point != point.name) continue;
    // A moment that does not come in its step, such as a checkpoint, counts when it comes.
    if (step_ < one.step || one.step < 0) continue;
    one.step = -1;
    if (one.kind == Mischief::Kind::Kill) ::kill(::getpid(), SIGKILL);
    if (one.kind == Mischief::Kind::Stop) stop_for(one.length);
  }
}

}  // namespace trireme::train
