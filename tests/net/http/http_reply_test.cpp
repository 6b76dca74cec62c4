// Goal:   a reply is parsed however its bytes are split, and invalid replies are refused.
// Method: valid replies fed at once and byte by byte; malformed ones.

#include "trireme/net/http/http_reply.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::net {
namespace {

struct Sample {
  std::string text, body;
  int status = 200;
  bool is_kept_alive = true;
};

std::vector<Sample> samples() {
  return {
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello"},
      {"HTTP/1.1 200 OK\r\ncontent-LENGTH:0\r\n\r\n", ""},
      {"HTTP/1.1 503 No\nContent-Length: 1\nConnection: Close\n\nx", "x", 503, false},
      {"HTTP/1.0 404 Not Found\r\nContent-Length: 2\r\n\r\nno", "no", 404, false},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n"
       "0\r\nTrailer: 1\r\n\r\n",
       "abc0123456789"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ""},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 Nothing\r\n\r\n", "", 204},
  };
}

TEST(HttpReply, IsParsedHoweverItsBytesAreSplit) {
  for (const Sample& sample : samples()) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{2}, sample.text.size()}) {
      HttpReply reply;
      std::string body;
      for (std::size_t i = 0; i < sample.text.size(); i += step) {
        ASSERT_FALSE(reply.is_whole()) << sample.text;
        const std::string piece = sample.text.substr(i, step);
        ASSERT_EQ(reply.feed(piece), piece.size());
        body += reply.take_body();
      }
      ASSERT_TRUE(reply.is_whole()) << sample.text;
      EXPECT_EQ(reply.status(), sample.status);
      EXPECT_EQ(body, sample.body);
      EXPECT_EQ(reply.is_kept_alive(), sample.is_kept_alive) << sample.text;
      EXPECT_EQ(reply.feed("more"), 0u) << "the following bytes belong to the next reply";
    }
  }
}

TEST(HttpReply, WithoutALengthEndsWithTheConnection) {
  HttpReply reply;
  reply.feed("HTTP/1.1 200 OK\r\n\r\nhello");
  EXPECT_TRUE(reply.has_head());
  EXPECT_FALSE(reply.is_whole());
  reply.feed_end();
  EXPECT_TRUE(reply.is_whole());
  EXPECT_EQ(reply.take_body(), "hello");
  HttpReply cut;
  cut.feed("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell");
  EXPECT_THROW(cut.feed_end(), Error);
}

TEST(HttpReply, RefusesMalformedReplies) {
  const std::string head = "HTTP/1.1 200 OK\r\n";
  const std::string chunked = head + "Transfer-Encoding: chunked\r\n\r\n";
  for (const std::string& text : {
           std::string("SSH-2.0-OpenSSH\r\n"),
           std::string("HTTP/1.1 xyz\r\n"),
           head + "no colon\r\n",
           head + "Content-Length: -1\r\n",
           head + "Content-Length: 99999999999999999999\r\n",
           head + "Content-Length: 1\r\nContent-Length: 2\r\n",
           head + "Transfer-Encoding: gzip\r\n",
           chunked + "x\r\n",
           chunked + "\r\n",
           chunked + "1\r\nab\r\n",
           std::string(HttpReply::kLineMax + 1, 'a'),
       }) {
    HttpReply reply;
    EXPECT_THROW(reply.feed(text), Error) << text.substr(0, 100);
  }
  HttpReply endless;
  const std::string field = "A: " + std::string(4000, 'b') + "\r\n";
  EXPECT_THROW(
      {
        endless.feed(head);
        for (std::size_t size = 0; size <= HttpReply::kHeadMax; size += field.size()) {
          endless.feed(field);
        }
      },
      Error);
}

}  // namespace
}  // namespace trireme::net
