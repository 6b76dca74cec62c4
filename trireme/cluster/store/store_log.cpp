#include "trireme/cluster/store/store_log.h"

#include <vector>

namespace trireme::cluster {
namespace {

// More changes than sessions make between two recorded changes.
constexpr std::uint64_t kRevisionLeap = std::uint64_t{1} << 40;

}  // namespace

StoreLog::StoreLog(const std::filesystem::path& path) : file_(path.string()) {
  file_.open();
  const auto learn = [this](const StoreMap::Change& change) {
    if (change.key.empty()) {
      kept_.advance(change.revision);
    } else {
      kept_.commit(change);
    }
  };
  // A torn record of the last writer is cut off; no client was told about that change.
  file_.read(learn, StoreJournal::Access::Writing);
}

void StoreLog::replay(const StoreJournal::Learn& learn) const {
  for (const StoreMap::Change& change : kept_.snapshot()) learn(change);
}

std::uint64_t StoreLog::first_revision() const {
  return kept_.revision() == 0 ? 0 : kept_.revision() + kRevisionLeap;
}

StoreState::Journal StoreLog::journal() {
  return [this](std::span<const StoreMap::Change> changes) { write(changes); };
}

void StoreLog::write(std::span<const StoreMap::Change> changes) {
  std::vector<StoreMap::Change> lasting;
  for (const StoreMap::Change& change : changes) {
    if (change.owner == StoreMap::kNobody) {
      lasting.push_back(change);
    } else if (kept_.find(change.key)) {
      // A session took over a key whose lifetime was the job.
      lasting.push_back({change.key, nullptr, change.revision, StoreMap::kNobody});
    }
  }
  if (lasting.empty()) return;
  file_.append(lasting);
  for (const StoreMap::Change& change : lasting) kept_.commit(change);
  file_.compact_if_worthwhile(kept_);
}

}  // namespace trireme::cluster
