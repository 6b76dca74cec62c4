#include "bench/comm/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/base/text/quantity.h"
#include "trireme/cli/setters.h"
#include "trireme/comm/algorithm/message_backend.h"
#include "trireme/comm/dtype.h"
#include "trireme/comm/request.h"

namespace trireme::bench {
namespace {

using cli::checked;
using cli::joined;
using cli::number;
using cli::one_of;
using cli::set_text;

using Names = std::vector<std::string>;

constexpr std::size_t kSizeMax = std::size_t{8} << 30;

Names operations() {
  using enum comm::OpKind;
  Names names;
  for (comm::OpKind kind : {AllReduce, ReduceScatter, AllGather, Broadcast, Reduce, Gather, Scatter,
                            AllToAll, OrderedSum, Barrier, Send}) {
    names.emplace_back(comm::name_of(kind));
  }
  return names;
}

Names types() {
  Names names;
  for (int i = 0; i < comm::kDTypeCount; ++i) {
    names.emplace_back(comm::name_of(static_cast<comm::DType>(i)));
  }
  return names;
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::InvalidInput, why);
}

}  // namespace

std::vector<std::size_t> parse_sizes(std::string_view text) {
  std::vector<std::size_t> sizes;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::size_t size = parse_byte_size(text.substr(at, comma - at)).count;
    if (size > kSizeMax) refuse("at most " + to_text(ByteSize{kSizeMax}) + " a call");
    sizes.push_back(size);
    at = comma + 1;
  }
  return sizes;
}

void Options::check() const {
  const bool shares_memory = backend == "shm" || backend == "thread";
  if (is_symmetric && !shares_memory) {
    refuse("--symmetric needs memory that all ranks share: --backend shm or thread");
  }
  if (has_peers && (op != "all_reduce" || type != "float32")) {
    refuse("--peers compares all_reduce of float32, which is what the peers run");
  }
  if (algorithm != "auto" && shares_memory) {
    refuse("--algorithm chooses among those over messages: --backend tcp or mpi");
  }
}

void add_case_options(cli::Command& command, const std::shared_ptr<Options>& options) {
  Options& to = *options;
  const Names backends{"shm", "thread", "tcp", "mpi", "auto"};
  command.option("--ranks", "N", "number of ranks (default 2)",
                 number<int>("--ranks", {1, 1024}, to.ranks));
  command.option("--backend", joined(backends, "|"), "transport (default shm)",
                 one_of("--backend", backends, to.backend));
  command.option("--op", "NAME",
                 "the operation (default all_reduce): " + joined(operations(), ", "),
                 one_of("--op", operations(), to.op));
  command.option("--sizes", "LIST", "bytes per call (default 64,4K,64K,1M,16M,64M)",
                 checked("--sizes", [options](const std::string& text) {
                   options->sizes = parse_sizes(text);
                 }));
  command.option("--type", "NAME", "the type (default float32): " + joined(types(), ", "),
                 one_of("--type", types(), to.type));
  command.flag("--symmetric", "use buffers in shared memory, which are reduced in place",
               to.is_symmetric);
  command.option("--algorithm", "NAME",
                 "algorithm of large reductions over messages (default auto)",
                 checked("--algorithm", [options](const std::string& text) {
                   comm::algorithm_named(text);
                   options->algorithm = text;
                 }));
  command.option("--streams", "N", "TCP connections per pair of ranks (default 1)",
                 number<int>("--streams", {1, 64}, to.streams));
  command.option("--interface", "NAME", "the network interface for TCP (default: found)",
                 set_text(to.interface));
  add_seconds(command, to.seconds);
}

void add_program_options(cli::Command& command, const std::shared_ptr<Options>& options) {
  add_turn_options(command, *options, "Gloo and Open MPI");
}

void add_worker_options(cli::Command& command, const std::shared_ptr<Options>& options) {
  command.option("--wire", "BITS", "speed of the network in bits per second, to compare with",
                 number<double>("--wire", {1.0, 1e15}, options->wire));
}

std::vector<std::string> worker_words(const Options& options) {
  std::vector<std::string> words{"--ranks",   std::to_string(options.ranks),
                                 "--backend", options.backend,
                                 "--op",      options.op,
                                 "--sizes",   fmt::format("{}", fmt::join(options.sizes, ",")),
                                 "--type",    options.type,
                                 "--streams", std::to_string(options.streams),
                                 "--seconds", fmt::format("{}", options.seconds)};
  if (options.is_symmetric) words.emplace_back("--symmetric");
  if (options.algorithm != "auto") {
    words.insert(words.end(), {"--algorithm", options.algorithm});
  }
  if (!options.interface.empty()) words.insert(words.end(), {"--interface", options.interface});
  if (options.wire > 0) {
    words.insert(words.end(), {"--wire", fmt::format("{:.0f}", options.wire)});
  }
  return words;
}

}  // namespace trireme::bench
