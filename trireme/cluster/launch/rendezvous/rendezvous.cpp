#include "trireme/cluster/launch/rendezvous/rendezvous.h"

#include <chrono>
#include <utility>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"
#include "trireme/base/exit_status.h"
#include "trireme/base/file/file.h"
#include "trireme/base/hash/sha256.h"
#include "trireme/cluster/store/etcd/etcd_store.h"
#include "trireme/net/address.h"

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

// Time for a coordinator to start listening.
constexpr auto kListenTime = 10s;
constexpr auto kClearTime = 5s;
// A job that ends does not wait long for an etcd that is gone.
constexpr auto kLeaveTime = 1s;

}  // namespace

EtcdShare::EtcdShare(const JobSpec& spec, const job::Folder& folder) {
  if (spec.store.empty()) return;
  place_ = etcd::EtcdPlace::parse(spec.store);
  const std::string mark = to_hex(sha256(bytes_of(read_file(folder.secret())))).substr(0, 12);
  place_->job = folder.name() + "-" + mark;
}

void EtcdShare::clear() const {
  if (place_) etcd::remove_job(*place_, Deadline::after(kClearTime));
}

std::string EtcdShare::leave() const {
  if (!place_) return {};
  try {
    etcd::remove_job(*place_, Deadline::after(kLeaveTime));
    return {};
  } catch (const Error& error) {
    return "the keys under " + place_->root() + " in etcd could not be removed: " + error.what();
  }
}

Rendezvous::Rendezvous(Options options)
    : options_(std::move(options)), etcd_(*options_.spec, *options_.folder), store_(etcd_.text()) {}

void Rendezvous::begin(const std::string& listen, bool is_successor) {
  if (!is_successor) etcd_.clear();
  if (!options_.spec->elastic || etcd_.place()) return;
  coordinator_.emplace(CoordinatorProcess::Options{
      .folder = options_.folder->path(),
      .orphan_timeout = options_.spec->elastic->orphan_timeout,
      .mask = options_.mask,
      .listen = listen.empty() ? "" : net::Address::tcp(listen, 0).to_text()});
  if (is_successor) {
    coordinator_->adopt();
  } else {
    coordinator_->start();
  }
  if (!listen.empty()) store_ = coordinator_->address(Deadline::after(kListenTime));
}

StoreLink::Options Rendezvous::link() const {
  return {.folder = options_.folder->path(),
          .etcd = etcd_.place(),
          .address = coordinator_ ? store_ : ""};
}

void Rendezvous::reset() {
  if (coordinator_) coordinator_->reset();
  etcd_.clear();
}

bool Rendezvous::on_reaped(pid_t pid) {
  if (!coordinator_ || pid != coordinator_->pid()) return false;
  on_coordinator_ended();
  return true;
}

bool Rendezvous::has(pid_t pid, unsigned long long start) const {
  return coordinator_ && coordinator_->pid() == pid && coordinator_->start_time() == start;
}

void Rendezvous::look_for_end() {
  if (coordinator_ && coordinator_->pid() > 0 && !coordinator_->is_there()) on_coordinator_ended();
}

void Rendezvous::on_coordinator_ended() {
  coordinator_->forget();
  if (options_.ending->has_begun() || is_ended_) return;
  options_.publish("coordinator lost", {});
  try {
    coordinator_->start();
    options_.publish("coordinator started", {{"pid", coordinator_->pid()}});
  } catch (const Error& error) {
    options_.ending->say(error.what());
    options_.ending->begin(error.what(), kExitFailure);
  }
}

void Rendezvous::end() {
  is_ended_ = true;
  if (coordinator_ && coordinator_->pid() > 0) kill(coordinator_->pid(), SIGKILL);
}

}  // namespace trireme::cluster::launch
