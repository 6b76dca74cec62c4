#include "trireme/cluster/membership/role_store.h"

#include <utility>

namespace trireme::cluster::membership {

RoleStore::RoleStore(Store& store, Role role)
    : store_(store), prefix_(role == Role::Worker ? "" : std::string(name_of(role)) + "/") {}

StoreReply RoleStore::exchange(StoreRequest request, Deadline deadline) {
  request.key.insert(0, prefix_);
  StoreReply reply = store_.ask(std::move(request), deadline);
  for (StoreItem& item : reply.items) item.key.erase(0, prefix_.size());
  return reply;
}

class RoleStore::RoleWatch final : public Watch {
 public:
  RoleWatch(std::unique_ptr<Watch> watch, std::size_t prefix_size)
      : watch_(std::move(watch)), prefix_size_(prefix_size) {}

  StoreChange next(Deadline deadline) override {
    StoreChange change = watch_->next(deadline);
    change.key.erase(0, prefix_size_);
    return change;
  }

 private:
  const std::unique_ptr<Watch> watch_;
  const std::size_t prefix_size_;
};

std::unique_ptr<Watch> RoleStore::watch(std::string_view prefix, Deadline deadline) {
  return std::make_unique<RoleWatch>(store_.watch(prefix_ + std::string(prefix), deadline),
                                     prefix_.size());
}

}  // namespace trireme::cluster::membership
