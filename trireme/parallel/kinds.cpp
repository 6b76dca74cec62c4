#include "trireme/parallel/kinds.h"

#include <utility>

#include "trireme/base/error.h"
#include "trireme/parallel/data/data_parallel.h"
#include "trireme/parallel/solo.h"

namespace trireme::parallel {
namespace {

data::SyncKind kind_for(SyncChoice choice, const comm::Group& group) {
  switch (choice) {
    case SyncChoice::Auto:
      return group.arena() ? data::SyncKind::Shared : data::SyncKind::AllReduce;
    case SyncChoice::Shared:
      if (!group.arena()) {
        throw Error(ErrorCode::InvalidInput,
                    "sync.kind = \"shared\" needs ranks that share memory; these are on several "
                    "hosts: take all_reduce or zero1");
      }
      return data::SyncKind::Shared;
    case SyncChoice::Zero1:
      return data::SyncKind::Zero1;
    case SyncChoice::Zero2:
      return data::SyncKind::Zero2;
    case SyncChoice::AllReduce:
      break;
  }
  return data::SyncKind::AllReduce;
}

}  // namespace

void add_sync_section(config::Schema& schema) {
  schema.section(kSyncSection, "how ranks come to the same weights").fields<SyncConfig>();
}

std::shared_ptr<Agreement> make_agreement(AgreementOptions options) {
  if (options.group.size() > 1) {
    const data::SyncKind kind = kind_for(options.sync.kind, options.group);
    return std::make_shared<data::DataParallel>(data::DataParallel::Options{
        .parameters = std::move(options.parameters),
        .buffers = std::move(options.buffers),
        .optimizer = std::move(options.optimizer),
        .group = options.group,
        .kind = kind,
        .bucket_size = static_cast<std::int64_t>(options.sync.bucket.count),
        .is_ordered = options.is_ordered,
        .is_in_parts = options.is_recomputed});
  }
  return std::make_shared<Solo>(Solo::Options{.parameters = std::move(options.parameters),
                                              .optimizer = std::move(options.optimizer),
                                              .can_update_early = !options.is_recomputed});
}

}  // namespace trireme::parallel
