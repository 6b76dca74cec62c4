// LocalStore is a Store for ranks that are threads of one process, and for tests.
//
//   LocalStore store;                       // a new store
//   auto other = store.open_session();      // the session of a second rank; same keys
//
// Each object is a session: its session-bound keys vanish with it. The keys themselves live as long
// as any session of the store.

#pragma once

#include <memory>

#include "trireme/cluster/store/message_store.h"
#include "trireme/cluster/store/store_map.h"

namespace trireme::cluster {

class LocalStore final : public MessageStore {
 public:
  explicit LocalStore(const StoreBounds& bounds = {});
  ~LocalStore() override;
  LocalStore(const LocalStore&) = delete;
  LocalStore& operator=(const LocalStore&) = delete;

  std::unique_ptr<LocalStore> open_session() const;

 protected:
  StoreReply exchange(StoreRequest request, Deadline deadline) override;
  void tell(StoreRequest request) noexcept override;

 private:
  struct Shared;
  class Session;

  explicit LocalStore(std::shared_ptr<Shared> shared);

  std::shared_ptr<Shared> shared_;
  std::unique_ptr<Session> session_;
};

}  // namespace trireme::cluster
