#include "bench/process_meter.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace weir::bench {
namespace {

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

// The first number in `text`, behind blanks.
template <class Number>
Number first_number(std::string_view text) noexcept {
    Number number = 0;
    const auto begin = std::min(text.find_first_not_of(" \t"), text.size());
    std::from_chars(text.data() + begin, text.data() + text.size(), number);
    return number;
}

// Behind "\nName:"; 0 when there is no such line.
std::uint64_t number_of_line(std::string_view text, std::string_view label) noexcept {
    const auto begin = text.find(label);
    return begin == std::string_view::npos ? 0 : first_number<std::uint64_t>(text.substr(begin + label.size()));
}

std::filesystem::path directory_of(int process) { return std::filesystem::path{"/proc"} / std::to_string(process); }

std::string name_of(const std::filesystem::path& thread) {
    auto name = read_file(thread / "comm");
    if (!name.empty() && name.back() == '\n') name.pop_back();
    return name;
}

}  // namespace

ThreadTimes thread_times(const std::vector<int>& processes) {
    ThreadTimes times;
    for (const int process : processes) {
        std::error_code gone;
        for (const auto& entry : std::filesystem::directory_iterator{directory_of(process) / "task", gone}) {
            const auto id = first_number<int>(entry.path().filename().string());
            times[id] = {.name = name_of(entry.path()), .cpu = parse_schedstat(read_file(entry.path() / "schedstat"))};
        }
    }
    return times;
}

ThreadTimes used_between(const ThreadTimes& before, const ThreadTimes& after) {
    ThreadTimes used = after;
    for (auto& [id, thread] : used) {
        const auto found = before.find(id);
        if (found != before.end()) thread.cpu -= found->second.cpu;
    }
    return used;
}

base::Nanoseconds parse_schedstat(std::string_view text) noexcept {
    return base::Nanoseconds{first_number<std::int64_t>(text)};
}

Resident parse_resident(std::string_view smaps_rollup) noexcept {
    return {.all_kib = number_of_line(smaps_rollup, "\nRss:"),
            .anonymous_kib = number_of_line(smaps_rollup, "\nAnonymous:")};
}

Resident resident_of(const std::vector<int>& processes) {
    Resident sum;
    for (const int process : processes) {
        const auto one = parse_resident(read_file(directory_of(process) / "smaps_rollup"));
        sum.all_kib += one.all_kib;
        sum.anonymous_kib += one.anonymous_kib;
    }
    return sum;
}

}  // namespace weir::bench
