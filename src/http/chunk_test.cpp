#include "http/chunk.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace weir::http {
namespace {

struct Outcome {
    std::string payload;
    std::string rest;
    bool end = false;
    bool failed = false;
    friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Decodes `input` in pieces that end at `cuts`; what follows the end of the message is the rest.
Outcome decode(const std::string& input, std::vector<std::size_t> cuts) {
    cuts.push_back(input.size());
    Outcome outcome;
    ChunkDecoder decoder;
    std::size_t at = 0;
    for (const std::size_t cut : cuts) {
        std::string piece = input.substr(at, cut - at);
        at = cut;
        if (outcome.end) {
            outcome.rest += piece;
            continue;
        }
        const auto decoded = decoder.decode(piece);
        outcome.payload.append(decoded.payload.data(), decoded.payload.size());
        outcome.failed = !decoded.fault.empty();
        if (outcome.failed) return outcome;
        outcome.end = decoded.end;
        outcome.rest += piece.substr(decoded.consumed);
    }
    return outcome;
}

struct Sample {
    std::string name;
    std::string input;
    Outcome expected;
};

std::vector<Sample> good_samples() {
    return {
        {"nothing but the end", "0\r\n\r\n", {.payload = "", .rest = "", .end = true}},
        {"one chunk", "5\r\nhello\r\n0\r\n\r\n", {.payload = "hello", .rest = "", .end = true}},
        {"two chunks, upper and lower case",
         "a\r\n0123456789\r\nB\r\nabcdefghijk\r\n0\r\n\r\n",
         {.payload = "0123456789abcdefghijk", .rest = "", .end = true}},
        {"leading zeros", "0005\r\nhello\r\n000\r\n\r\n", {.payload = "hello", .rest = "", .end = true}},
        {"an extension", "5;name=\"va\tlue\"\r\nhello\r\n0;x\r\n\r\n", {.payload = "hello", .rest = "", .end = true}},
        {"trailers", "5\r\nhello\r\n0\r\nX-Sum: 1\r\nEmpty:\r\n\r\n", {.payload = "hello", .rest = "", .end = true}},
        {"bytes of the next message",
         "1\r\nx\r\n0\r\n\r\nGET / HTTP/1.1\r\n",
         {.payload = "x", .rest = "GET / HTTP/1.1\r\n", .end = true}},
        {"payload that looks like framing",
         "7\r\n0\r\n\r\n0\r\r\n0\r\n\r\n",
         {.payload = "0\r\n\r\n0\r", .rest = "", .end = true}},
        {"cut in the data", "5\r\nhel", {.payload = "hel", .rest = ""}},
        {"cut behind the last size", "1\r\nx\r\n0\r\n", {.payload = "x", .rest = ""}},
    };
}

TEST(ChunkDecoder, DecodesEverySplitOfEverySampleAlike) {
    for (const auto& sample : good_samples()) {
        SCOPED_TRACE(sample.name);
        EXPECT_EQ(decode(sample.input, {}), sample.expected);
        for (std::size_t first = 0; first <= sample.input.size(); ++first) {
            for (std::size_t second = first; second <= sample.input.size(); ++second) {
                ASSERT_EQ(decode(sample.input, {first, second}), sample.expected) << first << ' ' << second;
            }
        }
    }
}

std::vector<std::size_t> every_byte(const std::string& input) {
    std::vector<std::size_t> cuts;
    for (std::size_t at = 1; at < input.size(); ++at)
        cuts.push_back(at);
    return cuts;
}

TEST(ChunkDecoder, RefusesWhatIsNotStrictlyChunkedWholeAndByteByByte) {
    const std::vector<std::pair<std::string, std::string>> samples = {
        {"no size", "\r\nhello\r\n0\r\n\r\n"},
        {"an extension without a size", ";x\r\n"},
        {"a sign", "+5\r\nhello\r\n0\r\n\r\n"},
        {"a minus", "-5\r\n"},
        {"0x", "0x5\r\nhello\r\n0\r\n\r\n"},
        {"a blank before the size", " 5\r\nhello\r\n0\r\n\r\n"},
        {"a blank behind the size", "5 \r\nhello\r\n0\r\n\r\n"},
        {"a bare LF behind the size", "5\nhello\r\n0\r\n\r\n"},
        {"a bare CR behind the size", "5\rhello\r\n0\r\n\r\n"},
        {"17 digits", "00000000000000005\r\nhello\r\n"},
        {"a size over 64 bits", "10000000000000005\r\nhello\r\n"},
        {"too much data", "5\r\nhello!\r\n0\r\n\r\n"},
        {"too little data", "5\r\nhell\r\n0\r\n\r\n"},
        {"a bare LF behind the data", "5\r\nhello\n0\r\n\r\n"},
        {"a bare LF in an extension", "5;a\nb\r\nhello\r\n0\r\n\r\n"},
        {"a bare CR in an extension", "5;a\rb\r\nhello\r\n0\r\n\r\n"},
        {"NUL in an extension", std::string{"5;a\0\r\nhello\r\n", 14}},
        {"a bare LF at the end", "0\r\n\n"},
        {"a trailer without a name", "0\r\n: x\r\n\r\n"},
        {"a trailer without a colon", "0\r\nabc\r\n\r\n"},
        {"a trailer with a blank before the colon", "0\r\nabc : x\r\n\r\n"},
        {"a folded trailer", "0\r\nabc: x\r\n y\r\n\r\n"},
        {"a control character in a trailer", "0\r\nabc: \x01\r\n\r\n"},
        {"a bare LF behind a trailer", "0\r\nabc: x\n\r\n"},
    };
    for (const auto& [name, input] : samples) {
        EXPECT_TRUE(decode(input, {}).failed) << name;
        EXPECT_TRUE(decode(input, every_byte(input)).failed) << name;
    }
}

TEST(ChunkDecoder, BoundsExtensionsAndTrailersOfTheWholeMessage) {
    const auto message = [](std::size_t extension, std::size_t trailer) {
        const auto half = extension / 2;
        return "1;" + std::string(half, 'e') + "\r\nx\r\n1;" + std::string(extension - half, 'e') +
               "\r\ny\r\n0\r\nt:" + std::string(trailer - 2, 'v') + "\r\n\r\n";
    };
    constexpr auto extension = ChunkDecoder::max_extension_bytes;
    constexpr auto trailer = ChunkDecoder::max_trailer_bytes;
    EXPECT_TRUE(decode(message(extension, trailer), {}).end);
    EXPECT_TRUE(decode(message(extension + 1, 100), {}).failed);
    EXPECT_TRUE(decode(message(0, trailer + 1), {}).failed);
}

TEST(ChunkDecoder, WhatCameWholeBeforeAFaultIsPayload) {
    const auto outcome = decode("5\r\nhello\r\nzz\r\n", {});
    EXPECT_EQ(outcome.payload, "hello");
    EXPECT_TRUE(outcome.failed);
}

TEST(ChunkDecoder, AcceptsTheLargestSizeWithoutOverflow) {
    const auto outcome = decode("ffffffffffffffff\r\nabc", {});
    EXPECT_EQ(outcome.payload, "abc");
    EXPECT_FALSE(outcome.failed);
    EXPECT_FALSE(outcome.end);
}

TEST(ChunkOpening, WritesTheSizeInHexadecimal) {
    EXPECT_EQ(ChunkOpening{1}.text(), "1\r\n");
    EXPECT_EQ(ChunkOpening{419}.text(), "1a3\r\n");
    EXPECT_EQ(ChunkOpening{~std::uint64_t{0}}.text(), "ffffffffffffffff\r\n");
}

}  // namespace
}  // namespace weir::http
