// InlineVector: a vector that keeps its first few elements in itself and allocates only beyond them: for lists that are
// nearly always short. For trivially copyable elements. What moves or grows leaves its elements elsewhere, as a vector
// does, and a moved-from one is empty. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

namespace weir::base {

template <class T, std::size_t Room>
    requires std::is_trivially_copyable_v<T>
class InlineVector {
public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    InlineVector() noexcept = default;
    InlineVector(std::initializer_list<T> items) {
        for (const T& item : items)
            push_back(item);
    }
    InlineVector(const InlineVector& other) { append(other); }
    InlineVector(InlineVector&& other) noexcept { take(other); }
    InlineVector& operator=(const InlineVector& other) {
        if (this == &other) return *this;
        clear();
        append(other);
        return *this;
    }
    InlineVector& operator=(InlineVector&& other) noexcept {
        if (this == &other) return *this;
        release();
        take(other);
        return *this;
    }
    ~InlineVector() { release(); }

    [[nodiscard]] T* data() noexcept { return data_; }
    [[nodiscard]] const T* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] T* begin() noexcept { return data_; }
    [[nodiscard]] T* end() noexcept { return data_ + size_; }
    [[nodiscard]] const T* begin() const noexcept { return data_; }
    [[nodiscard]] const T* end() const noexcept { return data_ + size_; }
    [[nodiscard]] T& operator[](std::size_t at) noexcept { return data_[at]; }
    [[nodiscard]] const T& operator[](std::size_t at) const noexcept { return data_[at]; }

    // By value: the element may be one of its own.
    void push_back(T item) {
        if (size_ == capacity_) grow(2 * capacity_);
        std::construct_at(data_ + size_, item);
        ++size_;
    }
    void clear() noexcept { size_ = 0; }
    void resize(std::size_t size) {
        if (size > capacity_) grow(size);
        while (size_ < size)
            std::construct_at(data_ + size_++);
        size_ = size;
    }

    [[nodiscard]] friend bool operator==(const InlineVector& a, const InlineVector& b) {
        return std::ranges::equal(a, b);
    }

private:
    // Elements that are not there yet are not begun.
    union Storage {
        Storage() noexcept {}
        T items[Room];
    };

    void append(const InlineVector& other) {
        if (other.size_ > capacity_) grow(other.size_);
        std::uninitialized_copy_n(other.data_, other.size_, data_);
        size_ = other.size_;
    }
    // Precondition: empty, without memory of its own.
    void take(InlineVector& other) noexcept {
        if (other.data_ == other.own_.items) {
            std::uninitialized_copy_n(other.data_, other.size_, data_);
        } else {
            data_ = std::exchange(other.data_, other.own_.items);
            capacity_ = std::exchange(other.capacity_, Room);
        }
        size_ = std::exchange(other.size_, 0);
    }
    // Rare, and kept out of push_back().
    [[gnu::noinline]] void grow(std::size_t capacity) {
        T* const larger = std::allocator<T>{}.allocate(capacity);
        std::uninitialized_copy_n(data_, size_, larger);
        const std::size_t size = size_;
        release();
        data_ = larger;
        capacity_ = capacity;
        size_ = size;
    }
    void release() noexcept {
        if (data_ != own_.items) std::allocator<T>{}.deallocate(data_, capacity_);
        data_ = own_.items;
        capacity_ = Room;
        size_ = 0;
    }

    Storage own_;
    T* data_ = own_.items;
    std::size_t size_ = 0;
    std::size_t capacity_ = Room;
};

}  // namespace weir::base
