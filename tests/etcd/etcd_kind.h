// EtcdKind is the store in etcd, for tests that run on every type of store (see store_kinds.h): one
// server for the whole process, and a separate job for each object.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "trireme/base/entropy.h"
#include "trireme/cluster/store/etcd/etcd_store.h"
#include "trireme/testing/etcd_server.h"

namespace trireme::cluster::etcd {

class EtcdKind {
 public:
  static constexpr const char* kMissing = testing::EtcdServer::kMissing;

  static testing::EtcdServer& server() {
    static testing::EtcdServer server;
    return server;
  }

  // Returns null if etcd is not installed.
  std::unique_ptr<Store> open() {
    if (!testing::EtcdServer::program()) return nullptr;
    return std::make_unique<EtcdStore>(EtcdStore::Options{.place = server().place(job_)},
                                       Deadline::after(std::chrono::seconds(20)));
  }
  EtcdPlace place() const { return server().place(job_); }

 private:
  const std::string job_ = "test-" + secure_random_hex(6);
};

}  // namespace trireme::cluster::etcd
