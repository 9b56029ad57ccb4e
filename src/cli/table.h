// Table: rows of text as people read them on a terminal: columns aligned, two blanks between, no blanks at line ends.
// Pure. Width is counted in code points; control characters are shown as `?`, since some texts are other people's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weir::cli {

enum class Align : std::uint8_t { left, right };

struct Column {
    std::string title;
    Align align = Align::left;
};

class Table {
public:
    explicit Table(std::vector<Column> columns) : columns_{std::move(columns)} {}
    // Precondition: one cell a column.
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    // With titles; "" when there is no row.
    [[nodiscard]] std::string text() const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

[[nodiscard]] std::string printable(std::string_view text);

}  // namespace weir::cli
