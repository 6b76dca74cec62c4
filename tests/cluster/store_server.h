// A store that the test's own process serves, so that it outlives every rank of the test.

#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "trireme/cluster/store/remote_store.h"
#include "trireme/cluster/store/store_service.h"
#include "trireme/net/auth/secret_credentials.h"
#include "trireme/net/server.h"

namespace trireme::cluster {

class StoreServer {
 public:
  StoreServer() {
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
  // `more`, and the variables with which a rank finds this store.
  std::map<std::string, std::string> variables(std::map<std::string, std::string> more) const {
    more.emplace("TRIREME_STORE", server_->address().to_text());
    more.emplace("TRIREME_SECRET", secret_.to_hex());
    return more;
  }
  // The server and all its connections end at once.
  void crash() { server_.reset(); }

 private:
  const net::Secret secret_ = net::Secret::generate();
  std::unique_ptr<net::Server> server_;
};

}  // namespace trireme::cluster
