// The collectives with one count per rank, including zeros.

#include <numeric>

#include "tests/conformance/buffer.h"

namespace trireme::comm::conformance {
namespace {

using Counts = std::vector<std::size_t>;

struct UnevenTrial {
  Counts counts;
  DType type;
  Place place;
  int salt;

  std::size_t total() const {
    return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  }
  std::size_t count(int rank) const { return counts[static_cast<std::size_t>(rank)]; }
  std::size_t first(int rank) const {
    return std::accumulate(counts.begin(), counts.begin() + rank, std::size_t{0});
  }
  std::string name(const char* what) const {
    std::string text = std::string(what) + " of " + Trial{type, total(), place}.name() + " as";
    for (const std::size_t count : counts) text += " " + std::to_string(count);
    return text;
  }
};

// Rank r's count by `kind`: all zero but one, increasing, zeros in between, large and zero.
std::size_t count_of(int kind, int rank, int size) {
  const auto r = static_cast<std::size_t>(rank);
  switch (kind) {
    case 0:
      return 0;
    case 1:
      return rank == size - 1 ? 5 : 0;
    case 2:
      return r * r + 1;
    case 3:
      return rank % 2 == 0 ? 0 : 4097 + r;
    default:
      return rank == 0 ? 300007 : r * 1000;
  }
}

std::vector<UnevenTrial> uneven_trials(const Group& group) {
  std::vector<UnevenTrial> all;
  const DType types[] = {DType::Float32, DType::Int8, DType::BFloat16, DType::Float64};
  int salt = 0;
  for (const Place place : places(group)) {
    for (int kind = 0; kind < 5; ++kind) {
      Counts counts;
      for (int r = 0; r < group.size(); ++r) counts.push_back(count_of(kind, r, group.size()));
      for (int t = 0; t < 2; ++t) {
        all.push_back({counts, types[(kind + 2 * t) % 4], place, ++salt});
      }
    }
  }
  return all;
}

void expect_run(const Buffer& out, const Cycle& wanted, std::size_t first, std::size_t count,
                const std::string& what, Report& report) {
  const std::string difference = wanted.difference(out.at(0), first, count);
  report.expect(difference.empty(), what + ": " + difference);
  out.expect_guards(what, report);
}

void expect_all(const Buffer& out, const UnevenTrial& trial, const std::string& what,
                Report& report) {
  for (int from = 0; from < static_cast<int>(trial.counts.size()); ++from) {
    const std::string difference = Cycle::input(trial.type, trial.salt, from)
                                       .difference(out.at(trial.first(from)), 0, trial.count(from));
    report.expect(difference.empty(),
                  what + " from rank " + std::to_string(from) + ": " + difference);
  }
  out.expect_guards(what, report);
}

void uneven_gathers(const Group& group, Report& report) {
  for (const UnevenTrial& trial : uneven_trials(group)) {
    const int root = trial.salt % group.size();
    Buffer piece(group, trial.type, trial.count(group.rank()), trial.place);
    piece.write(Cycle::input(trial.type, trial.salt, group.rank()));
    Buffer out(group, trial.type, trial.total(), trial.place);
    group.all_gather(out.span(), piece.span(), trial.counts).wait();
    expect_all(out, trial, trial.name("all_gather"), report);

    Buffer rooted(group, trial.type, trial.total(), trial.place);
    const bool is_root = group.rank() == root;
    group.gather(is_root ? rooted.span() : Span(), piece.span(), trial.counts, root).wait();
    if (is_root) expect_all(rooted, trial, trial.name("gather"), report);
  }
}

void uneven_scatters(const Group& group, Report& report) {
  for (const UnevenTrial& trial : uneven_trials(group)) {
    const int root = trial.salt % group.size();
    const std::size_t first = trial.first(group.rank()), count = trial.count(group.rank());
    const Cycle theirs = Cycle::input(trial.type, trial.salt, root);
    Buffer in(group, trial.type, trial.total(), trial.place);
    in.write(theirs);
    Buffer out(group, trial.type, count, trial.place);
    const bool is_root = group.rank() == root;
    group.scatter(out.span(), is_root ? ConstSpan(in.span()) : ConstSpan(), trial.counts, root)
        .wait();
    expect_run(out, theirs, first, count, trial.name("scatter"), report);
  }
}

void uneven_reduce_scatter(const Group& group, Report& report) {
  for (const UnevenTrial& trial : uneven_trials(group)) {
    const auto op = static_cast<ReduceOp>(trial.salt % kReduceOpCount);
    const std::size_t first = trial.first(group.rank()), count = trial.count(group.rank());
    Buffer in(group, trial.type, trial.total(), trial.place);
    in.write(Cycle::input(trial.type, trial.salt, group.rank()));
    Buffer out(group, trial.type, count, trial.place);
    group.reduce_scatter(out.span(), in.span(), trial.counts, op).wait();
    expect_run(out, Cycle::result(trial.type, op, trial.salt, group.size()), first, count,
               trial.name("reduce_scatter"), report);
  }
}

// Rank a sends to rank b a different number than b to a: a matrix that all ranks know.
std::size_t sent(int kind, int from, int to, int size) {
  return kind == 4 ? static_cast<std::size_t>(from == 0 ? 60013 * (to % 2) : 100 * to)
                   : count_of(kind, (from * 3 + to) % size, size);
}

void uneven_all_to_all(const Group& group, Report& report) {
  const int me = group.rank();
  int salt = 0;
  for (const Place place : places(group)) {
    for (const DType type : {DType::Int32, DType::UInt8}) {
      for (int kind = 0; kind < 5; ++kind) {
        Counts to, from;
        for (int other = 0; other < group.size(); ++other) {
          to.push_back(sent(kind, me, other, group.size()));
          from.push_back(sent(kind, other, me, group.size()));
        }
        const UnevenTrial out_trial{from, type, place, ++salt}, in_trial{to, type, place, salt};
        const std::string what = out_trial.name("all_to_all");
        Buffer in(group, type, in_trial.total(), place), out(group, type, out_trial.total(), place);
        in.write(Cycle::input(type, salt, me));
        group.all_to_all(out.span(), from, in.span(), to).wait();
        for (int other = 0; other < group.size(); ++other) {
          std::size_t first = 0;  // offset of this rank's block in the other rank's input
          for (int r = 0; r < me; ++r) first += sent(kind, other, r, group.size());
          const std::string difference =
              Cycle::input(type, salt, other)
                  .difference(out.at(out_trial.first(other)), first, out_trial.count(other));
          report.expect(difference.empty(), what + ": " + difference);
        }
        out.expect_guards(what, report);
      }
    }
  }
}

constexpr Case kCases[] = {{"uneven_gathers", uneven_gathers},
                           {"uneven_scatters", uneven_scatters},
                           {"uneven_reduce_scatter", uneven_reduce_scatter},
                           {"uneven_all_to_all", uneven_all_to_all}};

}  // namespace

std::span<const Case> uneven_cases() {
  return kCases;
}

}  // namespace trireme::comm::conformance
