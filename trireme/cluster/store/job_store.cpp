#include "trireme/cluster/store/job_store.h"

#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "trireme/base/error.h"
#include "trireme/cluster/store/etcd/etcd_store.h"
#include "trireme/cluster/store/local_store.h"
#include "trireme/cluster/store/reconnecting_store.h"
#include "trireme/cluster/store/remote_store.h"
#include "trireme/cluster/store/store_service.h"
#include "trireme/net/auth/secret_credentials.h"

namespace trireme::cluster {
namespace {

std::string rank_name(const Environment& environment) {
  return "rank " + std::to_string(environment.rank);
}

std::shared_ptr<const net::Credentials> worker_credentials(const Environment& environment,
                                                           const net::Secret& secret) {
  return std::make_shared<net::SecretCredentials>(secret, rank_name(environment));
}

net::Secret secret_in(const Environment& environment, const Lookup& lookup) {
  if (std::optional<net::Secret> secret = net::Secret::from_environment(lookup)) {
    return *std::move(secret);
  }
  throw Error(ErrorCode::InvalidInput,
              "the store at " + environment.store.connect.to_text() +
                  " requires the job's secret: put one into a file that only you can read (umask "
                  "077; openssl rand -hex 32 > secret) and set TRIREME_SECRET_FILE to its path on "
                  "every rank");
}

// Every rank has a connection here, and unauthenticated clients need more; the usual limit is 1,024
// descriptors per process.
void make_room_for(int ranks) {
  constexpr rlim_t kSpare = 512;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  const rlim_t wanted = std::min(static_cast<rlim_t>(ranks) + kSpare, files.rlim_max);
  if (files.rlim_cur >= wanted) return;
  files.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

JobStore::JobStore(const Environment& environment, const Lookup& lookup, const Log& log,
                   Deadline deadline) {
  const StorePlace& place = environment.store;
  switch (place.kind) {
    case StorePlace::Kind::InProcess:
      store_ = std::make_unique<LocalStore>();
      return;
    case StorePlace::Kind::Etcd:
      take_secret(environment, lookup);
      store_ = std::make_unique<etcd::EtcdStore>(
          etcd::EtcdStore::Options{.place = place.etcd, .patience = environment.orphan_timeout},
          deadline);
      return;
    case StorePlace::Kind::Server:
      break;
  }
  const bool serves = place.served_by == environment.rank;
  if (!place.makes_secret) {
    const net::Secret secret = secret_in(environment, lookup);
    if (serves) serve(environment, secret, log);
    connect(environment, secret, deadline);
  } else if (serves) {
    secret_file_.emplace(SecretFile::make(place.listen.path, deadline));
    serve(environment, secret_file_->secret(), log);
    connect(environment, secret_file_->secret(), deadline);
  } else {
    connect(environment, SecretFile::find(place.connect.path, deadline), deadline);
  }
}

// Even if the store requires no secret, the ranks may use one among themselves.
void JobStore::take_secret(const Environment& environment, const Lookup& lookup) {
  if (const auto secret = net::Secret::from_environment(lookup)) {
    credentials_ = worker_credentials(environment, *secret);
  }
}

void JobStore::serve(const Environment& environment, const net::Secret& secret, const Log& log) {
  make_room_for(environment.size);
  net::Server::Options options;
  options.address = environment.store.listen;
  options.credentials = std::make_shared<net::SecretCredentials>(secret, rank_name(environment));
  options.log = log;
  server_ = std::make_unique<net::Server>(
      std::move(options),
      net::Server::Services{{kStoreServiceNumber, std::make_shared<StoreService>()}});
}

void JobStore::connect(const Environment& environment, const net::Secret& secret,
                       Deadline deadline) {
  credentials_ = worker_credentials(environment, secret);
  net::Client::Options options;
  options.address = environment.store.connect;
  if (server_ && environment.store.listen.kind == net::Address::Kind::Tcp) {
    // The name by which other hosts know this host may resolve to another address here.
    options.address.port = server_->address().port;
    options.address.host = "127.0.0.1";  // [::] serves both address families
    const bool is_any =
        environment.store.listen.host == "0.0.0.0" || environment.store.listen.host == "::";
    if (!is_any) options.address = server_->address();
  }
  if (environment.is_elastic) {
    // The coordinator may be killed and restarted during training.
    store_ = std::make_unique<ReconnectingStore>(
        ReconnectingStore::Options{.address = options.address,
                                   .credentials = credentials_,
                                   .patience = environment.orphan_timeout},
        deadline);
    return;
  }
  options.credentials = credentials_.get();
  store_ = std::make_unique<RemoteStore>(options, deadline);
}

}  // namespace trireme::cluster
