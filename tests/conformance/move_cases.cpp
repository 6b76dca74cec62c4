// all_gather, gather, scatter, broadcast, all_to_all with equal shares, and barrier.

#include <atomic>
#include <cstring>

#include "tests/conformance/buffer.h"

namespace trireme::comm::conformance {
namespace {

constexpr std::size_t kManyWindows = 1000003;

// Fails unless `out` contains `count` elements of each rank's input, in rank order.
void expect_concatenation(const Buffer& out, const Trial& trial, int salt, int ranks,
                          const std::string& what, Report& report) {
  for (int from = 0; from < ranks; ++from) {
    const std::string difference =
        Cycle::input(trial.type, salt, from)
            .difference(out.at(trial.count * static_cast<std::size_t>(from)), 0, trial.count);
    report.expect(difference.empty(),
                  what + " from rank " + std::to_string(from) + ": " + difference);
  }
  out.expect_guards(what, report);
}

void all_gather(const Group& group, Report& report) {
  const auto n = static_cast<std::size_t>(group.size());
  int salt = 0;
  for (const Trial& trial : trials(group, kManyWindows / n)) {
    const std::string what = "all_gather of " + trial.name();
    Buffer piece(group, trial), out(group, trial.type, trial.count * n, trial.place);
    const Cycle mine = Cycle::input(trial.type, ++salt, group.rank());
    piece.write(mine);
    group.all_gather(out.span(), piece.span()).wait();
    expect_concatenation(out, trial, salt, group.size(), what, report);
    piece.expect(mine, what + ", the input", report);
  }
}

void gather(const Group& group, Report& report) {
  const auto n = static_cast<std::size_t>(group.size());
  int salt = 0;
  for (const Trial& trial : trials(group, kManyWindows / n)) {
    const int root = ++salt % group.size();
    Buffer piece(group, trial);
    piece.write(Cycle::input(trial.type, salt, group.rank()));
    const std::string what = "gather of " + trial.name();
    if (group.rank() == root) {
      Buffer out(group, trial.type, trial.count * n, trial.place);
      group.gather(out.span(), piece.span(), root).wait();
      expect_concatenation(out, trial, salt, group.size(), what, report);
    } else {
      group.gather({}, piece.span(), root).wait();
    }
  }
}

void scatter(const Group& group, Report& report) {
  const auto n = static_cast<std::size_t>(group.size());
  int salt = 0;
  for (const Trial& trial : trials(group, kManyWindows / n)) {
    const int root = ++salt % group.size();
    const Cycle theirs = Cycle::input(trial.type, salt, root);
    Buffer out(group, trial);
    const std::string what = "scatter of " + trial.name();
    if (group.rank() == root) {
      Buffer in(group, trial.type, trial.count * n, trial.place);
      in.write(theirs);
      group.scatter(out.span(), in.span(), root).wait();
      in.expect(theirs, what + ", the input", report);
    } else {
      group.scatter(out.span(), {}, root).wait();
    }
    const std::size_t first = trial.count * static_cast<std::size_t>(group.rank());
    const std::string difference = theirs.difference(out.at(0), first, trial.count);
    report.expect(difference.empty(), what + ": " + difference);
    out.expect_guards(what, report);
  }
}

void broadcast(const Group& group, Report& report) {
  int salt = 0;
  for (const Trial& trial : trials(group, kManyWindows)) {
    const int root = ++salt % group.size();
    Buffer data(group, trial);
    data.write(Cycle::input(trial.type, salt, group.rank()));
    group.broadcast(data.span(), root).wait();
    data.expect(Cycle::input(trial.type, salt, root), "broadcast of " + trial.name(), report);
  }
}

void all_to_all(const Group& group, Report& report) {
  const auto n = static_cast<std::size_t>(group.size());
  const auto me = static_cast<std::size_t>(group.rank());
  int salt = 0;
  for (const Trial& trial : trials(group, kManyWindows / n)) {
    const std::string what = "all_to_all of " + trial.name();
    Buffer in(group, trial.type, trial.count * n, trial.place);
    Buffer out(group, trial.type, trial.count * n, trial.place);
    const Cycle mine = Cycle::input(trial.type, ++salt, group.rank());
    in.write(mine);
    group.all_to_all(out.span(), in.span()).wait();
    for (int from = 0; from < group.size(); ++from) {
      const std::string difference =
          Cycle::input(trial.type, salt, from)
              .difference(out.at(trial.count * static_cast<std::size_t>(from)), trial.count * me,
                          trial.count);
      report.expect(difference.empty(),
                    what + " from rank " + std::to_string(from) + ": " + difference);
    }
    out.expect_guards(what, report);
    in.expect(mine, what + ", the input", report);
  }
}

// No rank leaves a barrier before every rank has entered it. This is checked with one clock, which
// is the same for all processes of a host.
void barrier(const Group& group, Report& report) {
  const auto now = [] { return steady_clock().now().time_since_epoch().count(); };
  for (int round = 0; round < 20; ++round) {
    std::int64_t times[2] = {now(), 0};
    group.barrier().wait();
    times[1] = now();
    std::vector<std::int64_t> all(2 * static_cast<std::size_t>(group.size()));
    group.all_gather(span(all), const_span(times)).wait();
    std::int64_t last_in = all[0], first_out = all[1];
    for (std::size_t i = 0; i < all.size(); i += 2) {
      last_in = std::max(last_in, all[i]);
      first_out = std::min(first_out, all[i + 1]);
    }
    report.expect(last_in <= first_out, "a rank left a barrier before another entered it");
  }
}

constexpr Case kCases[] = {{"all_gather", all_gather}, {"gather", gather},
                           {"scatter", scatter},       {"broadcast", broadcast},
                           {"all_to_all", all_to_all}, {"barrier", barrier}};

}  // namespace

std::span<const Case> move_cases() {
  return kCases;
}

}  // namespace trireme::comm::conformance
