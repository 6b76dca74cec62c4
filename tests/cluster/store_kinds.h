// The stores that tests run on: each kind creates one store and opens any number of sessions of it.

#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "tests/cluster/store_server.h"
#include "trireme/cluster/store/local_store.h"
#include "trireme/cluster/store/reconnecting_store.h"
#include "trireme/net/auth/secret_credentials.h"

namespace trireme::cluster {

class LocalKind {
 public:
  std::unique_ptr<Store> open() { return store_.open_session(); }

 private:
  LocalStore store_;
};

class ElasticKind {
 public:
  std::unique_ptr<Store> open() {
    return std::make_unique<ReconnectingStore>(
        ReconnectingStore::Options{
            .address = remote_.server().address(),
            .credentials = std::make_shared<net::SecretCredentials>(remote_.secret(), "rank")},
        Deadline::after(std::chrono::seconds(20)));
  }

 private:
  StoreServer remote_;
};

using StoreKinds = ::testing::Types<LocalKind, StoreServer, ElasticKind>;

}  // namespace trireme::cluster
