// The stores that tests run on: each kind creates one store and opens any number of sessions of it.

#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/store/folder_store.h"
#include "trireme/cluster/store/local_store.h"
#include "trireme/cluster/store/reconnecting_store.h"
#include "trireme/cluster/store/remote_store.h"
#include "trireme/cluster/store/store_service.h"
#include "trireme/net/auth/secret_credentials.h"
#include "trireme/net/server.h"

namespace trireme::cluster {

class LocalKind {
 public:
  std::unique_ptr<Store> open() { return store_.open_session(); }

 private:
  LocalStore store_;
};

class FolderKind {
 public:
  std::unique_ptr<Store> open() {
    return std::make_unique<FolderStore>(FolderStore::Options{.folder = folder_.path() / "store"},
                                         Deadline::after(std::chrono::seconds(20)));
  }

 private:
  TemporaryFolder folder_{"store-test"};
};

class RemoteKind {
 public:
  RemoteKind() {
    net::Server::Options options;
    options.credentials = std::make_shared<net::SecretCredentials>(secret_, "server");
    server_ = std::make_unique<net::Server>(
        std::move(options),
        net::Server::Services{{kStoreServiceNumber, std::make_shared<StoreService>()}});
  }

  std::unique_ptr<Store> open() {
    const net::SecretCredentials credentials(secret_, "rank");
    return std::make_unique<RemoteStore>(
        net::Client::Options{.address = server_->address(), .credentials = &credentials},
        Deadline::after(std::chrono::seconds(20)));
  }
  net::Server& server() { return *server_; }
  const net::Secret& secret() const { return secret_; }
  // The server and all its connections end at once.
  void crash() { server_.reset(); }

 private:
  const net::Secret secret_ = net::Secret::generate();
  std::unique_ptr<net::Server> server_;
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
  RemoteKind remote_;
};

using StoreKinds = ::testing::Types<LocalKind, FolderKind, RemoteKind, ElasticKind>;

}  // namespace trireme::cluster
