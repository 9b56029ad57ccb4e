// For tests: a blocking HTTP/1.1 client on a plain socket, independent of the code under test.
// Every wait ends after ten seconds with a failure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weir::sim::test {

struct Response {
    int status = 0;
    std::string head;
    std::string body;       // without the chunks' framing
    bool complete = false;  // the framing ended as it should

    // The payloads of its server-sent events, in order.
    [[nodiscard]] std::vector<std::string> events() const;
};

class Connection {
public:
    explicit Connection(int port);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection();

    void send(std::string_view bytes) const;
    [[nodiscard]] Response receive() const;
    // Reads until `text` has come; what was read so far.
    [[nodiscard]] std::string receive_until(std::string_view text) const;

private:
    int descriptor_;
};

[[nodiscard]] std::string get_request(std::string_view path, std::string_view more_fields = {});
[[nodiscard]] std::string post_request(std::string_view path, std::string_view body, std::string_view more_fields = {});

// One request on a connection of its own.
[[nodiscard]] Response get(int port, std::string_view path);
[[nodiscard]] Response post(int port, std::string_view path, std::string_view body, std::string_view more_fields = {});

}  // namespace weir::sim::test
