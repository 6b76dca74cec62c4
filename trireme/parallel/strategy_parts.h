// What the built-in strategies (strategy/) are made of. Functions that take `SyncOptions&` may move
// the parameters, the optimizer and the buffers out of it.
//
// Thread safety: as GradientSync.

#pragma once

#include <functional>
#include <memory>

#include "trireme/parallel/data/data_parallel.h"
#include "trireme/parallel/local/flat_model.h"
#include "trireme/parallel/local/rounds.h"
#include "trireme/parallel/replica.h"
#include "trireme/parallel/single_rank.h"
#include "trireme/parallel/sync_options.h"

namespace trireme::parallel {

bool is_one_host(const SyncOptions& options);
// The codec of the program, or the one that the options name; null: none.
std::shared_ptr<const codec::Codec> codec_of(const SyncOptions& options);

// One rank by itself. `progress` is called from time to time while backward runs.
std::shared_ptr<SingleRank> make_single_rank(SyncOptions& options,
                                             std::function<void()> progress = {});

// Settings of data parallelism among all ranks.
data::DataParallel::Options data_options(SyncOptions& options, data::Sharding sharding);
// `is_in_host`: shards are cut within hosts that have several ranks each, and hosts are replicas.
std::shared_ptr<GradientSync> make_data_parallel(SyncOptions& options, data::Sharding sharding,
                                                 bool is_in_host);

// Each data-parallel replica trains on its own.
Replica replica_of_rank(SyncOptions& options);
// Settings of what ranks exchange besides the steps of their replicas. Throws InvalidInput for
// parameters of several types.
local::FlatModel::Options flat_options(const SyncOptions& options);
// Replicas that are combined after every round; see SyncOptions::pace.
std::shared_ptr<GradientSync> make_rounds(const SyncOptions& options,
                                          local::FlatModel::Options flat, Replica replica,
                                          local::CombineRule gathering);
// The same with one replica per rank.
std::shared_ptr<GradientSync> make_rounds(SyncOptions& options, local::CombineRule gathering);

}  // namespace trireme::parallel
