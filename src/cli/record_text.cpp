#include "cli/record_text.h"

#include "cli/table.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace weir::cli {

namespace {

using Json = simdjson::dom::element;

std::string value_text(Json value) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) return printable(text);
    simdjson::dom::array list;
    if (value.get(list) != simdjson::SUCCESS) return printable(simdjson::minify(value));
    std::string joined;
    for (const Json item : list)
        joined.append(joined.empty() ? "" : ", ").append(value_text(item));
    return joined.empty() ? "-" : joined;
}

bool is_list_of_objects(Json value) {
    simdjson::dom::array list;
    if (value.get(list) != simdjson::SUCCESS || list.size() == 0) return false;
    return std::ranges::all_of(list, [](Json item) { return item.is_object(); });
}

// One row for each object, a column for each name that any of them has.
std::string list_text(simdjson::dom::array list) {
    std::vector<std::string> names;
    for (const simdjson::dom::object item : list)
        for (const auto& [name, value] : item)
            if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
    std::vector<Column> columns;
    for (const auto& name : names)
        columns.push_back({.title = printable(name)});
    Table table{std::move(columns)};
    for (const simdjson::dom::object item : list) {
        std::vector<std::string> cells;
        for (const auto& name : names) {
            Json value;
            cells.push_back(item[name].get(value) == simdjson::SUCCESS ? value_text(value) : "");
        }
        table.add(std::move(cells));
    }
    return table.text();
}

using Lines = std::vector<std::pair<std::string, std::string>>;

std::string lines_text(const Lines& lines) {
    std::size_t width = 0;
    for (const auto& [name, value] : lines)
        width = std::max(width, name.size());
    std::string text;
    for (const auto& [name, value] : lines)
        text.append(name).append(width - name.size() + 2, ' ').append(value).append("\n");
    return text;
}

// Members of a member are named "decision.score"; lists of objects become tables behind the lines.
void add(Lines& lines, std::string& tables, const std::string& prefix, simdjson::dom::object object) {
    for (const auto& [key, value] : object) {
        const auto name = prefix + printable(key);
        if (value.is_object())
            add(lines, tables, name + ".", value);
        else if (is_list_of_objects(value))
            tables.append("\n").append(name).append("\n").append(list_text(value));
        else
            lines.emplace_back(name, value_text(value));
    }
}

}  // namespace

base::Result<std::string> record_text(std::string_view json) {
    simdjson::dom::parser parser;
    simdjson::dom::object record;
    if (parser.parse(simdjson::padded_string{json}).get(record) != simdjson::SUCCESS)
        return base::fail(base::ErrorCode::protocol, "the gateway's answer is no record");
    Lines lines;
    std::string tables;
    add(lines, tables, "", record);
    return lines_text(lines) + tables;
}

}  // namespace weir::cli
