#include "trireme/cluster/store/store_place.h"

#include <unistd.h>

#include <cstdint>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"
#include "trireme/base/hash/sha256.h"

namespace trireme::cluster {
namespace {

// Below the ports that kernels assign to outgoing connections.
constexpr unsigned kPortFirst = 20000;
constexpr unsigned kPortCount = 12000;

[[noreturn]] void throw_must_say(const std::string& why) {
  throw Error(ErrorCode::InvalidInput,
              why +
                  ": set TRIREME_STORE to tcp://<host of rank 0>:<free port> or to "
                  "etcd://<host>:<port>");
}

StorePlace server_at(net::Address connect, net::Address listen) {
  StorePlace place;
  place.kind = StorePlace::Kind::Server;
  place.connect = std::move(connect);
  place.listen = std::move(listen);
  return place;
}

// Every interface, because ranks on other hosts connect through any of them. A name may resolve to
// either address family, or differently on other hosts, and [::] serves both families.
std::string any_host_like(const std::string& host) {
  const bool is_v4 = net::is_number(host) && host.find(':') == std::string::npos;
  return is_v4 ? "0.0.0.0" : "::";
}

bool is_name(const net::Address& address) {
  return address.kind == net::Address::Kind::Tcp && address.host != "localhost" &&
         !net::is_number(address.host);
}

StorePlace said(const std::string& text, const std::string& job) {
  StorePlace place;
  if (etcd::EtcdPlace::is_meant(text)) {
    place.kind = StorePlace::Kind::Etcd;
    place.etcd = etcd::EtcdPlace::parse(text);
    if (place.etcd.job.empty()) place.etcd.job = job;
    return place;
  }
  try {
    place = server_at(net::Address::parse(text), net::Address::parse(text));
    // A host's own name often resolves to 127.0.1.1 on the host itself, where other hosts cannot
    // connect.
    if (is_name(place.listen)) place.listen.host = any_host_like(place.listen.host);
  } catch (const Error& error) {
    throw Error(ErrorCode::InvalidInput, "TRIREME_STORE=" + text + ": " + error.message());
  }
  return place;
}

// In a folder that belongs to this user.
StorePlace socket_of(const std::string& job, const Variables& in) {
  const std::string name = to_hex(sha256(bytes_of(job))).substr(0, 24);
  const std::optional<std::string> runtime = in.text("XDG_RUNTIME_DIR");
  const std::string folder =
      runtime ? *runtime + "/trireme-ranks" : "/tmp/trireme-ranks-" + std::to_string(::getuid());
  const net::Address address = net::Address::unix_socket(folder + "/" + name + ".sock");
  StorePlace place = server_at(address, address);
  place.makes_secret = !in.has("TRIREME_SECRET") && !in.has("TRIREME_SECRET_FILE");
  return place;
}

StorePlace under_torchrun(const StoreQuestion& question, const Variables& in) {
  const std::optional<std::string> master = in.text("MASTER_ADDR");
  const std::optional<int> port = in.number("MASTER_PORT", 1, 65534);
  if (!master || !port) throw_must_say("MASTER_ADDR and MASTER_PORT are not both set");
  const auto ours = static_cast<std::uint16_t>(*port + 1);
  if (question.is_one_host) {
    const net::Address loopback = net::Address::tcp("127.0.0.1", ours);
    return server_at(loopback, loopback);
  }
  return server_at(net::Address::tcp(*master, ours),
                   net::Address::tcp(any_host_like(*master), ours));
}

// The first node of "node[07-09,12],other3" is node07.
std::string first_node(const std::string& list) {
  const std::size_t bracket = list.find('[');
  const std::size_t comma = list.find(',');
  if (bracket == std::string::npos || (comma != std::string::npos && comma < bracket)) {
    return list.substr(0, comma);
  }
  const std::size_t end = list.find_first_of("-,]", bracket);
  if (end == std::string::npos) return {};
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1);
}

StorePlace under_srun(const StoreQuestion& question, const Variables& in) {
  if (question.is_one_host) return socket_of(question.job, in);
  std::string host;
  for (const char* name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"}) {
    if (host.empty()) host = first_node(in.text(name).value_or(""));
  }
  if (host.empty()) host = in.text("SLURM_LAUNCH_NODE_IPADDR").value_or("");
  if (host.empty()) throw_must_say("neither a node list nor SLURM_LAUNCH_NODE_IPADDR is set");
  const Sha256Digest digest = sha256(bytes_of(question.job));
  const unsigned mixed =
      std::to_integer<unsigned>(digest[0]) << 8 | std::to_integer<unsigned>(digest[1]);
  const auto port = static_cast<std::uint16_t>(kPortFirst + mixed % kPortCount);
  return server_at(net::Address::tcp(host, port), net::Address::tcp(any_host_like(host), port));
}

StorePlace derived(const StoreQuestion& question, const Variables& in) {
  switch (question.launcher) {
    case Launcher::Torchrun:
      return under_torchrun(question, in);
    case Launcher::Srun:
      return under_srun(question, in);
    case Launcher::Mpirun:
      if (!question.is_one_host) throw_must_say("this mpirun job spans several hosts");
      if (!in.has("PMIX_NAMESPACE") && !in.has("TRIREME_JOB")) {
        throw_must_say("mpirun did not set PMIX_NAMESPACE");
      }
      return socket_of(question.job, in);
    case Launcher::Trireme:
    case Launcher::None:
      break;
  }
  throw_must_say("a job of " + std::to_string(question.size) + " ranks needs a store");
}

}  // namespace

std::string_view name_of(Launcher launcher) noexcept {
  switch (launcher) {
    case Launcher::None:
      return "nobody";
    case Launcher::Trireme:
      return "trireme run";
    case Launcher::Torchrun:
      return "torchrun";
    case Launcher::Mpirun:
      return "mpirun";
    case Launcher::Srun:
      return "srun";
  }
  return "nobody";
}

StorePlace find_store(const StoreQuestion& question, const Variables& variables) {
  const std::optional<std::string> text = variables.text("TRIREME_STORE");
  if (!text && question.size == 1) return {};
  StorePlace place = text ? said(*text, question.job) : derived(question, variables);
  if (place.kind != StorePlace::Kind::Server) return place;
  place.served_by = variables.number("TRIREME_STORE_RANK", 0, question.size - 1);
  const bool is_ours =
      question.launcher != Launcher::Trireme && question.launcher != Launcher::None;
  if (!place.served_by && is_ours) place.served_by = 0;
  return place;
}

}  // namespace trireme::cluster
