// The stores that tests run on: each kind makes one store and opens any number of sessions of it.

#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "trireme/base/temporary_folder.h"
#include "trireme/cluster/folder_store.h"
#include "trireme/cluster/local_store.h"

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

using StoreKinds = ::testing::Types<LocalKind, FolderKind>;

}  // namespace trireme::cluster
