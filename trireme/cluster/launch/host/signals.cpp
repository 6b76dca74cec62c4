#include "trireme/cluster/launch/host/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "trireme/base/error.h"

namespace trireme::cluster::launch::host {

SignalQueue::SignalQueue(std::initializer_list<int> signals) {
  sigset_t taken;
  sigemptyset(&taken);
  sigaddset(&taken, SIGCHLD);
  // If the parent ignored SIGCHLD, the kernel would reap this process's children before it can.
  signal(SIGCHLD, SIG_DFL);
  for (const int number : signals) {
    struct sigaction action{};
    if (sigaction(number, nullptr, &action) != 0) throw system_error("sigaction", errno);
    if (action.sa_handler != SIG_IGN) sigaddset(&taken, number);
  }
  if (sigprocmask(SIG_BLOCK, &taken, &before_) != 0) throw system_error("sigprocmask", errno);
  descriptor_ = signalfd(-1, &taken, SFD_NONBLOCK | SFD_CLOEXEC);
  if (descriptor_ < 0) throw system_error("signalfd", errno);
}

SignalQueue::~SignalQueue() {
  close(descriptor_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> SignalQueue::next() {
  signalfd_siginfo info{};
  if (read(descriptor_, &info, sizeof(info)) != sizeof(info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

std::string_view meaning_of(int signal) noexcept {
  switch (signal) {
    case SIGSEGV:
      return "segmentation fault";
    case SIGBUS:
      return "bus error: a mapped file shrank, or /dev/shm is full";
    case SIGABRT:
      return "abort: an uncaught exception or a failed assertion";
    case SIGFPE:
      return "arithmetic error";
    case SIGILL:
      return "illegal instruction: built for another processor?";
    case SIGPIPE:
      return "wrote to a closed pipe";
    case SIGXCPU:
      return "processor time limit";
    case SIGXFSZ:
      return "file size limit";
    case SIGSYS:
      return "forbidden system call";
    default:
      return {};
  }
}

std::string name_of(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

}  // namespace trireme::cluster::launch::host
