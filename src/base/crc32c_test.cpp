#include "base/crc32c.h"

#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace weir::base {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span{text}); }

TEST(Crc32c, GivesTheValuesOfTheStandard) {
    // RFC 3720, appendix B.4, and the customary check value.
    const std::vector<std::pair<std::string, std::uint32_t>> cases{
        {"", 0x00000000U},
        {"123456789", 0xE3069283U},
        {std::string(32, '\0'), 0x8A9136AAU},
        {std::string(32, '\xff'), 0x62A8AB43U},
    };
    for (const auto& [text, expected] : cases) {
        EXPECT_EQ(crc32c(bytes_of(text)), expected) << text.size();
        EXPECT_EQ(crc32c_by_table(bytes_of(text)), expected) << text.size();
    }
}

TEST(Crc32c, TheInstructionAndTheTableAgreeAtEveryLengthAndOffset) {
    Random random{7};
    std::string text(200, ' ');
    std::ranges::generate(text, [&random] { return static_cast<char>(random()); });
    for (std::size_t from = 0; from < 16; ++from)
        for (std::size_t length = 0; from + length <= text.size(); ++length) {
            const auto part = bytes_of(text).subspan(from, length);
            ASSERT_EQ(crc32c(part), crc32c_by_table(part)) << from << " " << length;
        }
}

}  // namespace
}  // namespace weir::base
