#include "cli/table.h"

#include "base/text.h"

#include <algorithm>
#include <cstddef>

namespace weir::cli {

namespace {

std::size_t width_of(std::string_view text) noexcept {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

void append_cell(std::string& line, std::string_view cell, std::size_t width, Align align) {
    const std::string padding(width - std::min(width, width_of(cell)), ' ');
    if (align == Align::right) line += padding;
    line += cell;
    if (align == Align::left) line += padding;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        const auto valid = base::valid_utf8_prefix(text);
        for (const char c : text.substr(0, valid))
            shown += static_cast<unsigned char>(c) < 0x20U || c == 0x7f ? '?' : c;
        if (valid < text.size()) shown += '?';
        text.remove_prefix(std::min(text.size(), valid + 1));
    }
    return shown;
}

std::string Table::text() const {
    if (rows_.empty()) return {};
    std::vector<std::vector<std::string>> lines(1);
    for (const auto& column : columns_)
        lines.front().push_back(column.title);
    for (const auto& row : rows_) {
        auto& line = lines.emplace_back();
        for (const auto& cell : row)
            line.push_back(printable(cell));
    }
    std::string out;
    std::vector<std::size_t> widths(columns_.size());
    for (const auto& line : lines)
        for (std::size_t i = 0; i < widths.size(); ++i)
            widths[i] = std::max(widths[i], width_of(line[i]));
    for (const auto& line : lines) {
        std::string shown;
        for (std::size_t i = 0; i < widths.size(); ++i) {
            if (i > 0) shown += "  ";
            append_cell(shown, line[i], widths[i], columns_[i].align);
        }
        shown.resize(shown.find_last_not_of(' ') + 1);
        out += shown + "\n";
    }
    return out;
}

}  // namespace weir::cli
