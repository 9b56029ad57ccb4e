#include "base/inline_vector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <utility>

namespace weir::base {
namespace {

using testing::ElementsAre;

struct Item {
    int number = 7;
};
using Numbers = InlineVector<int, 2>;

bool is_inside(const Numbers& numbers) {
    const auto* const at = reinterpret_cast<const std::byte*>(numbers.data());
    const auto* const self = reinterpret_cast<const std::byte*>(&numbers);
    return at >= self && at < self + sizeof numbers;
}

TEST(InlineVector, KeepsTheFirstInItselfAndTheRestElsewhere) {
    Numbers numbers;
    EXPECT_TRUE(numbers.empty());
    numbers.push_back(1);
    numbers.push_back(2);
    EXPECT_TRUE(is_inside(numbers));
    numbers.push_back(numbers[0]);
    numbers.push_back(4);
    numbers.push_back(numbers[2]);
    EXPECT_FALSE(is_inside(numbers));
    EXPECT_THAT(numbers, ElementsAre(1, 2, 1, 4, 1));
    EXPECT_EQ(std::span<const int>{numbers}.size(), 5U);
    numbers.clear();
    EXPECT_TRUE(numbers.empty());
}

TEST(InlineVector, IsCopiedAndMovedWhereverItsElementsAre) {
    for (const auto& original : {Numbers{}, Numbers{1}, Numbers{1, 2}, Numbers{1, 2, 3}}) {
        for (const auto& before : {Numbers{}, Numbers{9}, Numbers{9, 8, 7, 6}}) {
            Numbers copy{before};
            copy = original;
            EXPECT_EQ(copy, original);
            copy = *&copy;
            EXPECT_EQ(copy, original);
            Numbers moved{before};
            moved = std::move(copy);
            EXPECT_EQ(moved, original);
            copy = {5};  // of use again
            EXPECT_THAT(copy, ElementsAre(5));
            const Numbers built{std::move(moved)};
            EXPECT_EQ(built, original);
        }
    }
}

TEST(InlineVector, ResizesWithDefaultElements) {
    InlineVector<Item, 2> items;
    items.resize(1);
    items[0].number = 1;
    items.resize(3);
    EXPECT_THAT(items, ElementsAre(testing::Field(&Item::number, 1), testing::Field(&Item::number, 7),
                                   testing::Field(&Item::number, 7)));
    items.resize(1);
    items.resize(2);
    EXPECT_EQ(items[1].number, 7);
}

TEST(InlineVector, IsEqualByItsElements) {
    EXPECT_EQ((Numbers{1, 2, 3}), (Numbers{1, 2, 3}));
    EXPECT_NE((Numbers{1, 2, 3}), (Numbers{1, 2}));
    EXPECT_NE((Numbers{1}), (Numbers{2}));
}

}  // namespace
}  // namespace weir::base
