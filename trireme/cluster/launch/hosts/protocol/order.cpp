#include "trireme/cluster/launch/hosts/protocol/order.h"

#include "trireme/base/error.h"

namespace trireme::cluster::launch::hosts {
namespace {

constexpr std::uint32_t kCountMax = 100'000;

void put_texts(ByteWriter& out, const std::vector<std::string>& texts) {
  out.put(static_cast<std::uint32_t>(texts.size()));
  for (const std::string& text : texts) out.put_text(text);
}

std::uint32_t get_count(ByteReader& in) {
  const auto count = in.get<std::uint32_t>();
  if (count > kCountMax) throw Error(ErrorCode::Protocol, "an order with too long a list");
  return count;
}

std::vector<std::string> get_texts(ByteReader& in) {
  std::vector<std::string> texts(get_count(in));
  for (std::string& text : texts) text = in.get_text();
  return texts;
}

int get_int(ByteReader& in) {
  return in.get<std::int32_t>();
}

}  // namespace

Bytes StartOrder::encode() const {
  ByteWriter out;
  out.put_text(job).put_text(secret);
  for (const int number : {first, ranks, size, threads_each, host}) {
    out.put(static_cast<std::int32_t>(number));
  }
  put_texts(out, command);
  out.put_text(program).put_text(folder);
  put_texts(out, environment);
  out.put_text(store).put_text(feed).put_text(interface);
  out.put(static_cast<std::uint8_t>(bind ? 1 : 0));
  out.put(static_cast<std::int64_t>(grace.count())).put(memory_each);
  out.put(static_cast<std::int64_t>(orphan_timeout.count()));
  out.put(static_cast<std::uint32_t>(job_file.size()));
  for (const JobFile& one : job_file) {
    out.put_text(one.path.string()).put(one.size).put_text(one.digest);
    out.put(static_cast<std::uint8_t>(one.is_executable ? 1 : 0));
  }
  return std::move(out).take();
}

StartOrder StartOrder::decode(ByteView bytes) {
  ByteReader in(bytes);
  StartOrder order;
  order.job = in.get_text();
  order.secret = in.get_text();
  for (int* number : {&order.first, &order.ranks, &order.size, &order.threads_each, &order.host}) {
    *number = get_int(in);
  }
  order.command = get_texts(in);
  order.program = in.get_text();
  order.folder = in.get_text();
  order.environment = get_texts(in);
  order.store = in.get_text();
  order.feed = in.get_text();
  order.interface = in.get_text();
  order.bind = in.get<std::uint8_t>() != 0;
  order.grace = Duration(in.get<std::int64_t>());
  order.memory_each = in.get<std::uint64_t>();
  order.orphan_timeout = Duration(in.get<std::int64_t>());
  order.job_file.resize(get_count(in));
  for (JobFile& one : order.job_file) {
    one.path = in.get_text();
    one.size = in.get<std::uint64_t>();
    one.digest = in.get_text();
    one.is_executable = in.get<std::uint8_t>() != 0;
  }
  in.expect_end();
  const bool is_sound = order.first >= 0 && order.ranks >= 1 && order.size >= 1 &&
                        order.ranks <= order.size - order.first && !order.command.empty() &&
                        order.orphan_timeout >= Duration::zero();
  if (!is_sound) throw Error(ErrorCode::Protocol, "an order that contradicts itself");
  return order;
}

Bytes encode_output(int rank, int target, std::string_view bytes) {
  ByteWriter out;
  out.put(static_cast<std::int32_t>(rank)).put(static_cast<std::uint8_t>(target));
  return std::move(out.append(bytes_of(bytes))).take();
}

OutputPiece decode_output(ByteView payload) {
  ByteReader in(payload);
  OutputPiece piece;
  piece.rank = get_int(in);
  piece.target = in.get<std::uint8_t>();
  piece.bytes = text_of(in.take(in.remaining()));
  return piece;
}

Bytes encode_exit(const RankExit& exit) {
  ByteWriter out;
  for (const int number : {exit.rank, exit.status, exit.signal_sent}) {
    out.put(static_cast<std::int32_t>(number));
  }
  out.put(static_cast<std::uint8_t>(exit.oom)).put_text(exit.not_started);
  return std::move(out).take();
}

RankExit decode_exit(ByteView payload) {
  ByteReader in(payload);
  RankExit exit;
  for (int* number : {&exit.rank, &exit.status, &exit.signal_sent}) *number = get_int(in);
  const auto oom = in.get<std::uint8_t>();
  if (oom > static_cast<std::uint8_t>(host::OomKill::Proven)) {
    throw Error(ErrorCode::Protocol, "an exit of no known kind");
  }
  exit.oom = static_cast<host::OomKill>(oom);
  exit.not_started = in.get_text();
  in.expect_end();
  return exit;
}

Bytes encode_start(const RankStart& start) {
  ByteWriter out;
  out.put(static_cast<std::int32_t>(start.rank)).put(static_cast<std::int32_t>(start.pid));
  return std::move(out).take();
}

RankStart decode_start(ByteView payload) {
  ByteReader in(payload);
  RankStart start;
  start.rank = get_int(in);
  start.pid = get_int(in);
  in.expect_end();
  return start;
}

Bytes encode_rank_order(const RankOrder& order) {
  ByteWriter out;
  out.put(static_cast<std::int32_t>(order.rank)).put(static_cast<std::int32_t>(order.size));
  put_texts(out, order.arguments);
  return std::move(out).take();
}

RankOrder decode_rank_order(ByteView payload) {
  ByteReader in(payload);
  RankOrder order;
  order.rank = get_int(in);
  order.size = get_int(in);
  order.arguments = get_texts(in);
  in.expect_end();
  return order;
}

Bytes encode_starts(const std::vector<RankStart>& starts) {
  ByteWriter out;
  out.put(static_cast<std::uint32_t>(starts.size()));
  for (const RankStart& start : starts) {
    out.put(static_cast<std::int32_t>(start.rank)).put(static_cast<std::int32_t>(start.pid));
  }
  return std::move(out).take();
}

std::vector<RankStart> decode_starts(ByteView payload) {
  ByteReader in(payload);
  std::vector<RankStart> starts(get_count(in));
  for (RankStart& start : starts) {
    start.rank = get_int(in);
    start.pid = get_int(in);
  }
  in.expect_end();
  return starts;
}

Bytes encode_indexes(const std::vector<std::uint32_t>& indexes) {
  ByteWriter out;
  out.put(static_cast<std::uint32_t>(indexes.size()));
  for (const std::uint32_t index : indexes) out.put(index);
  return std::move(out).take();
}

std::vector<std::uint32_t> decode_indexes(ByteView payload) {
  ByteReader in(payload);
  std::vector<std::uint32_t> indexes(get_count(in));
  for (std::uint32_t& index : indexes) index = in.get<std::uint32_t>();
  in.expect_end();
  return indexes;
}

}  // namespace trireme::cluster::launch::hosts
