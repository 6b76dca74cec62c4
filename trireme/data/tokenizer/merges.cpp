#include "trireme/data/tokenizer/merges.h"

#include <functional>
#include <queue>
#include <tuple>

namespace trireme::data::tokenizer {
namespace {

constexpr std::uint64_t pair_key(Token left, Token right) noexcept {
  return std::uint64_t{left} << 32 | right;
}

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// A token of the word and its current neighbours.
struct MergeNode {
  Token token = 0;
  std::uint32_t before = kNone;
  std::uint32_t after = kNone;
  bool is_gone = false;
};

struct Candidate {
  std::uint32_t rank = 0;
  std::uint32_t at = 0;  // position of the left token
  Token result = 0;

  bool operator>(const Candidate& other) const {
    return std::tie(rank, at) > std::tie(other.rank, other.at);
  }
};

}  // namespace

Merges::Merges(const std::vector<Merge>& all) {
  by_pair_.reserve(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    by_pair_[pair_key(all[i].left, all[i].right)] = {.rank = static_cast<std::uint32_t>(i),
                                                     .result = all[i].result};
  }
}

const Merges::Ranked* Merges::find(Token left, Token right) const {
  const auto found = by_pair_.find(pair_key(left, right));
  return found == by_pair_.end() ? nullptr : &found->second;
}

void Merges::apply(std::vector<Token>& word) const {
  if (word.size() < 2) return;
  const auto count = static_cast<std::uint32_t>(word.size());
  std::vector<MergeNode> links(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    links[i] = {.token = word[i],
                .before = i == 0 ? kNone : i - 1,
                .after = i + 1 == count ? kNone : i + 1};
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto offer = [&](std::uint32_t at) {
    if (at == kNone || links[at].after == kNone) return;
    const Ranked* merge = find(links[at].token, links[links[at].after].token);
    if (merge) queue.push({.rank = merge->rank, .at = at, .result = merge->result});
  };
  for (std::uint32_t i = 0; i < count; ++i) offer(i);
  while (!queue.empty()) {
    const Candidate next = queue.top();
    queue.pop();
    MergeNode& left = links[next.at];
    if (left.is_gone || left.after == kNone) continue;
    MergeNode& right = links[left.after];
    // The entry may have been queued before a neighbour changed.
    const Ranked* merge = find(left.token, right.token);
    if (merge == nullptr || merge->rank != next.rank) continue;
    left.token = merge->result;
    right.is_gone = true;
    left.after = right.after;
    if (right.after != kNone) links[right.after].before = next.at;
    offer(left.before);
    offer(next.at);
  }
  word.clear();
  for (std::uint32_t at = 0; at != kNone; at = links[at].after) word.push_back(links[at].token);
}

}  // namespace trireme::data::tokenizer
