#include "trireme/data/tokenizer/byte_letters.h"

#include <array>

#include "trireme/data/tokenizer/unicode.h"

namespace trireme::data::tokenizer {
namespace {

constexpr bool is_itself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr char32_t kFirstMade = 0x100;
constexpr std::size_t kLetterCodes = 0x144;  // one past the last code that is used

struct Tables {
  std::array<char32_t, 256> letter_of{};
  std::array<int, kLetterCodes> byte_of{};
};

constexpr Tables kTables = [] {
  Tables tables;
  for (int& byte : tables.byte_of) byte = -1;
  char32_t made = kFirstMade;
  for (int byte = 0; byte < 256; ++byte) {
    const char32_t letter = is_itself(byte) ? static_cast<char32_t>(byte) : made++;
    tables.letter_of[static_cast<std::size_t>(byte)] = letter;
    tables.byte_of[letter] = byte;
  }
  return tables;
}();

}  // namespace

std::string bytes_by_letter() {
  std::string all;
  for (const int byte : kTables.byte_of) {
    if (byte >= 0) all += static_cast<char>(byte);
  }
  return all;
}

std::string to_letters(std::string_view bytes) {
  std::string letters;
  for (const char byte : bytes) {
    append_utf8(letters, kTables.letter_of[static_cast<unsigned char>(byte)]);
  }
  return letters;
}

std::optional<std::string> from_letters(std::string_view letters) {
  std::string bytes;
  while (!letters.empty()) {
    const Character letter = first_character(letters);
    if (letter.code >= kLetterCodes || kTables.byte_of[letter.code] < 0) return std::nullopt;
    bytes += static_cast<char>(kTables.byte_of[letter.code]);
    letters.remove_prefix(letter.size);
  }
  return bytes;
}

}  // namespace trireme::data::tokenizer
