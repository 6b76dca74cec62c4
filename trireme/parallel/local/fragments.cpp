#include "trireme/parallel/local/fragments.h"

#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <string>

namespace trireme::parallel::local {
namespace {

FlatModel::Options flat_of(const Replica& replica, FlatModel::Options options) {
  options.group = replica.across;
  if (replica.inside.size() == 1 || replica.is_led()) {
    options.parameters = replica.parameters;
    return options;
  }
  options.beside = replica.inside;
  std::map<std::string, const Parameter*> by_name;
  for (const Parameter& parameter : replica.parameters) by_name.emplace(parameter.name, &parameter);
  for (checkpoint::Piece& piece : replica.own->saved().pieces()) {
    const auto whole = by_name.find(piece.name);
    if (whole == by_name.end()) continue;
    options.parameters.push_back(part_at(*whole->second, piece.begin, std::move(piece.data)));
  }
  return options;
}

// Divides a model's parameters into this number of fragments of adjacent parameters with about the
// same number of elements; some may have none.
std::vector<FlatModel::Options> cut_in_fragments(const FlatModel::Options& whole,
                                                 std::int64_t fragments) {
  FlatModel::Options empty = whole;
  empty.parameters.clear();
  std::vector<FlatModel::Options> all(static_cast<std::size_t>(fragments), empty);
  std::int64_t count = 1;
  for (const Parameter& parameter : whole.parameters) count += parameter.tensor.numel();
  std::int64_t passed = 0;
  for (const Parameter& parameter : whole.parameters) {
    const std::int64_t own = parameter.tensor.numel();
    // The middle of a parameter decides which fragment it belongs to.
    all[static_cast<std::size_t>((passed + own / 2) * fragments / count)].parameters.push_back(
        parameter);
    passed += own;
  }
  return all;
}

}  // namespace

Fragments::Fragments(Fragment::Options options, const Replica& replica)
    : options_(std::move(options)), replica_(replica) {
  for (FlatModel::Options& flat :
       cut_in_fragments(flat_of(replica_, options_.flat), options_.pace.fragments)) {
    Fragment::Options own = options_;
    own.flat = std::move(flat);
    own.role = role();
    own.index = std::ssize(all_);
    all_.emplace_back(std::move(own));
  }
}

// If each rank of a replica has its own part, each receives the means of it itself, without a
// broadcast inside the replica.
Fragment::Role Fragments::role() const {
  return {.across = replica_.across,
          .inside = replica_.is_led() ? replica_.inside : comm::Group::solo(),
          .number = replica_.number(),
          .count = replica_.count(),
          .is_saver = replica_.number() == 0 && replica_.inside.rank() == 0};
}

void Fragments::send(std::size_t index) {
  all_[index].send();
  traffic_ += all_[index].traffic();
}

void Fragments::poll() {
  for (Fragment& fragment : all_) fragment.poll();
}

double Fragments::distance() {
  double squares[] = {0, 0};
  for (Fragment& fragment : all_) {
    const Fragment::Squares own = fragment.squares();
    squares[0] += own.moved;
    squares[1] += own.norm;
  }
  replica_.inside
      .all_reduce({squares, std::size(squares), comm::DType::Float64}, comm::ReduceOp::Sum,
                  {.label = "distance"})
      .wait();
  return std::sqrt(squares[0] / squares[1]);
}

void Fragments::regroup() {
  for (Fragment& fragment : all_) fragment.regroup(role());
}

void Fragments::drop_doubtful(bool has_state) {
  constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::min() / 2;
  std::vector<std::int64_t> most;  // by fragment: the latest departure, and the earliest, negated
  for (const Fragment& fragment : all_) {
    const std::int64_t flight = 2 * fragment.launched() + (fragment.is_known() ? 1 : 0);
    most.push_back(has_state ? flight : kUnknown);
    most.push_back(has_state ? -flight : kUnknown);
  }
  replica_.all
      .all_reduce({most.data(), most.size(), comm::DType::Int64}, comm::ReduceOp::Max,
                  {.label = "fragments in flight"})
      .wait();
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (most[2 * i] != -most[2 * i + 1]) all_[i].forget();
  }
}

void Fragments::send_again() {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].is_travelling() && !all_[i].is_known()) send(i);
  }
}

}  // namespace trireme::parallel::local
