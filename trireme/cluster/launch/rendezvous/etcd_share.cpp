#include "trireme/cluster/launch/rendezvous/etcd_share.h"

#include <chrono>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/hash/sha256.h"
#include "trireme/cluster/store/etcd/etcd_store.h"

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

constexpr auto kClearTime = 5s;
// A job that ends does not wait long for an etcd that is gone.
constexpr auto kLeaveTime = 1s;

}  // namespace

EtcdShare::EtcdShare(const JobSpec& spec, const job::Folder& folder) {
  if (spec.store.empty()) return;
  place_ = etcd::Place::parse(spec.store);
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

}  // namespace trireme::cluster::launch
