// ServerConnection: one client's connection, from accept to close: reads a request, hands it to the Handler, sees
// that it was answered, and goes on or ends the connection so that the client gets the last response.
// Threads: the reactor's. Owns itself through its task; the server's state outlives it.
#pragma once

#include "http/request_reader.h"
#include "http/response_writer.h"
#include "http/server.h"
#include "http/server_state.h"
#include "io/cancel.h"
#include "io/intrusive.h"
#include "io/socket.h"
#include "io/task.h"

#include <exception>
#include <memory>
#include <string>

namespace weir::http {

class ServerConnection final : private RequestSource, public io::ListLink<ServerConnection> {
public:
    ServerConnection(Server::State& server, io::Socket socket);
    // Serves the connection to its end.
    [[nodiscard]] static io::Task<void> run(std::unique_ptr<ServerConnection> connection);
    // Tells the request in progress that its client is gone.
    void give_up() noexcept { client_gone_.fire(); }

private:
    [[nodiscard]] const RequestHead& head() const noexcept override { return reader_.head(); }
    [[nodiscard]] io::Task<std::expected<std::string, BodyError>> read_body() override;
    [[nodiscard]] io::Cancel& client_gone() noexcept override { return client_gone_; }
    [[nodiscard]] base::Instant last_byte_at() const noexcept override { return reader_.last_byte_at(); }
    [[nodiscard]] std::string peer_text() const override { return socket_.peer_text(); }

    [[nodiscard]] io::Task<std::expected<std::string, BodyError>> wait_for_body(
        io::Task<std::expected<std::string, HeadError>> reading);
    // The handler's work, not begun.
    [[nodiscard]] io::Task<void> serve();
    [[nodiscard]] io::Task<void> refuse(HeadError error);
    // What the handler's work threw ends in Handler::crashed.
    [[nodiscard]] io::Task<void> report(std::exception_ptr failure);
    // True when another request may follow.
    [[nodiscard]] bool finish_request() noexcept;
    [[nodiscard]] io::Task<void> complete_answer();
    [[nodiscard]] io::Task<void> close_gently();
    void notice_client() noexcept;

    Server::State& server_;
    io::Socket socket_;
    io::Cancel client_gone_;
    RequestReader reader_;
    ResponseWriter writer_;
    bool in_request_ = false;  // a head was read, and its response is not yet over
};

}  // namespace weir::http
