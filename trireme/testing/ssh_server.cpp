#include "trireme/testing/ssh_server.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"

namespace trireme::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto kSshStartTime = 30s;

int run_shell(const std::string& line) {
  CommandProcess process({.command = {"/bin/sh", "-c", line}});
  return process.wait_exit(Deadline::after(kSshStartTime));
}

}  // namespace

std::optional<std::string> SshServer::program() {
  // sshd must be started with its absolute path.
  for (const char* path : {"/usr/sbin/sshd", "/usr/local/sbin/sshd"}) {
    if (access(path, X_OK) == 0) return path;
  }
  return std::nullopt;
}

void SshServer::make_keys() {
  const std::string at = folder_.path().string();
  const std::string line = "cd " + at +
                           " && ssh-keygen -q -t ed25519 -N '' -f host && "
                           "ssh-keygen -q -t ed25519 -N '' -f user && mv user.pub authorized";
  if (run_shell(line) != 0) throw Error(ErrorCode::Io, "ssh-keygen made no keys in " + at);
}

SshServer::SshServer(const Options& options) {
  make_keys();
  const std::string at = folder_.path().string();
  std::string config = "Port " + std::to_string(port_.number()) + "\nHostKey " + at +
                       "/host\nAuthorizedKeysFile " + at +
                       "/authorized\nPidFile none\nUsePAM no\nStrictModes no\nUseDNS no\n"
                       "PasswordAuthentication no\nPermitRootLogin yes\nPrintMotd no\n"
                       "PrintLastLog no\nMaxStartups 100\nMaxSessions 100\n";
  for (const std::string& address : options.addresses) config += "ListenAddress " + address + "\n";
  std::string variables;
  for (const auto& [name, value] : options.environment) variables += " " + name + "=" + value;
  if (!variables.empty()) config += "SetEnv" + variables + "\n";
  write_file_atomically(folder_.path() / "config", config);
  // As root, sshd needs this folder for privilege separation, which a service manager would have
  // created.
  if (geteuid() == 0) mkdir("/run/sshd", 0755);
  std::string line = "exec " + *program() + " -D -e -f " + at + "/config >>" + at + "/log 2>&1";
  if (!options.hidden.empty()) {
    // In a chroot the mounts cannot be made private through the root folder; then no mount may be
    // shared in the first place.
    std::string hide = "{ mount --make-rprivate / || ! grep -q shared: /proc/self/mountinfo; } && ";
    for (const std::string& folder : options.hidden) {
      hide += "mount -t tmpfs -o mode=755 none " + folder + " && ";
    }
    line = "exec unshare -m --propagation unchanged sh -c '" + hide + line + "'";
  }
  for (const std::string& within : options.within) {
    const std::string whole = within.empty() ? line : "exec " + within + " sh -c '" + line + "'";
    processes_.emplace_back(CommandProcess::Options{
        .command = {"/bin/sh", "-c", "exec setpriv --pdeathsig KILL sh -c \"$0\"", whole}});
  }
  wait_until_they_answer(options.addresses.size());
}

// A server that cannot listen at one of its addresses only says so in its log.
void SshServer::wait_until_they_answer(std::size_t addresses) {
  const Deadline deadline = Deadline::after(kSshStartTime);
  const auto count = [&] {
    const std::string text = log();
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find("Server listening on ", at)) != std::string::npos;) {
      ++found;
      ++at;
    }
    return found;
  };
  while (count() < processes_.size() * addresses) {
    if (deadline.is_past()) throw Error(ErrorCode::Deadline, "sshd does not answer: " + log());
    poll(nullptr, 0, 5);
  }
}

std::string SshServer::command() const {
  const std::string at = folder_.path().string();
  return "ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "
         "-o LogLevel=ERROR -o IdentitiesOnly=yes -i " +
         at + "/user -p " + std::to_string(port_.number());
}

std::string SshServer::log() const {
  try {
    return read_file(folder_.path() / "log");
  } catch (const Error&) {
    return {};
  }
}

std::vector<pid_t> SshServer::of_host(const std::string& address, const std::vector<pid_t>& all) {
  // SSH_CONNECTION holds: client address, client port, server address, server port.
  const std::string mark = "SSH_CONNECTION=";
  std::vector<pid_t> found;
  for (const pid_t pid : all) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
    for (std::string variable; std::getline(file, variable, '\0');) {
      const bool is_one =
          variable.starts_with(mark) && variable.find(" " + address + " ") != std::string::npos;
      if (is_one) found.push_back(pid);
    }
  }
  return found;
}

}  // namespace trireme::testing
