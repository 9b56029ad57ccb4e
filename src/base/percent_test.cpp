#include "base/percent.h"

#include <gtest/gtest.h>

namespace weir::base {
namespace {

TEST(Percent, DecodesEscapesAndLeavesBrokenOnes) {
    EXPECT_EQ(percent_decoded("a%2Fb%c3%BC"), "a/b\xc3\xbc");
    EXPECT_EQ(percent_decoded("%41%4"), "A%4");
    EXPECT_EQ(percent_decoded("%%41%zz%"), "%A%zz%");
    EXPECT_EQ(percent_decoded("+"), "+");
}

TEST(Percent, EncodesWhatIsNotUnreservedAndBack) {
    EXPECT_EQ(percent_encoded("acme/k~1 &=\xff"), "acme%2Fk~1%20%26%3D%FF");
    std::string all;
    for (int byte = 0; byte < 256; ++byte)
        all += static_cast<char>(byte);
    EXPECT_EQ(percent_decoded(percent_encoded(all)), all);
}

}  // namespace
}  // namespace weir::base
