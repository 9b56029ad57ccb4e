#include "base/exception_text.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace weir::base {
namespace {

TEST(ExceptionText, IsWhatTheExceptionSaysOrThatNobodyKnows) {
    EXPECT_EQ(text_of(std::make_exception_ptr(std::runtime_error{"a bug"})), "a bug");
    EXPECT_EQ(text_of(std::make_exception_ptr(7)), "an exception of an unknown type");
}

}  // namespace
}  // namespace weir::base
