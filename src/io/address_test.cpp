#include "io/address.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::io {
namespace {

struct AddressCase {
    const char* host;
    std::uint16_t port;
    const char* expected;  // "" = refused
};

class AddressTest : public testing::TestWithParam<AddressCase> {};

TEST_P(AddressTest, parses_numeric_hosts_only) {
    const auto address = SocketAddress::parse(GetParam().host, GetParam().port);
    const std::string expected = GetParam().expected;
    ASSERT_EQ(address.has_value(), !expected.empty());
    if (!address) {
        EXPECT_EQ(address.error().code(), base::ErrorCode::invalid_argument);
        EXPECT_NE(address.error().message().find(GetParam().host), std::string::npos);
        return;
    }
    EXPECT_EQ(address->text(), expected);
    EXPECT_EQ(address->port(), GetParam().port);
}

INSTANTIATE_TEST_SUITE_P(Hosts, AddressTest,
                         testing::Values(AddressCase{"127.0.0.1", 8080, "127.0.0.1:8080"},
                                         AddressCase{"localhost", 1, "127.0.0.1:1"},
                                         AddressCase{"0.0.0.0", 0, "0.0.0.0:0"},
                                         AddressCase{"::1", 65535, "[::1]:65535"}, AddressCase{"[::1]", 80, "[::1]:80"},
                                         AddressCase{"[fe80::1]", 80, "[fe80::1]:80"}, AddressCase{"", 80, ""},
                                         AddressCase{"[]", 80, ""}, AddressCase{"127.1", 80, ""},
                                         AddressCase{"0177.0.0.1", 80, ""}, AddressCase{"example.com", 80, ""},
                                         AddressCase{"127.0.0.1:80", 80, ""}, AddressCase{"256.0.0.1", 80, ""}));

TEST(SocketAddress, an_empty_one_has_a_text_all_the_same) {
    EXPECT_EQ(SocketAddress{}.text(), "unknown");
    EXPECT_EQ(SocketAddress{}.port(), 0);
}

}  // namespace
}  // namespace weir::io
