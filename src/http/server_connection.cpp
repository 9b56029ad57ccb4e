#include "http/server_connection.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace weir::http {
namespace {

// How long a client that still sends is listened to, so that it reads our last response and not a reset.
constexpr std::chrono::seconds linger_total{5};
constexpr std::chrono::seconds linger_silence{1};
constexpr std::size_t linger_extra_bytes = 1024 * 1024;  // beyond twice the longest body that is accepted

}  // namespace

ServerConnection::ServerConnection(Server::State& server, io::Socket socket)
    : server_{server}, socket_{std::move(socket)}, reader_{server, socket_}, writer_{server, socket_, reader_} {
    server.connections.push_back(*this);
    socket_.on_peer_finished([this] { notice_client(); });
}

// One frame for all of a connection's life, so that a connection whose request takes long holds no more than that and
// the handler's own.
io::Task<void> ServerConnection::run(std::unique_ptr<ServerConnection> connection) {
    ServerConnection& self = *connection;
    bool goes_on = true;
    while (goes_on) {
        const auto head = co_await self.reader_.read_head();
        if (head && !*head) co_return;
        auto work = head ? self.serve() : self.refuse(head.error());
        std::exception_ptr failure;
        try {
            co_await std::move(work);
        } catch (...) {
            failure = std::current_exception();
        }
        if (failure) co_await self.report(failure);
        if (self.writer_.ending() != ResponseWriter::Ending::keep) co_await self.complete_answer();
        goes_on = self.finish_request();
    }
    co_await self.close_gently();
}

io::Task<void> ServerConnection::serve() {
    writer_.start(reader_.head(), false);
    in_request_ = true;
    notice_client();
    return server_.handler.handle(*this, writer_);
}

io::Task<void> ServerConnection::refuse(HeadError error) {
    writer_.start(RequestHead{}, true);
    return server_.handler.reject(error.fault, std::string{error.message}, writer_);
}

bool ServerConnection::finish_request() noexcept {
    in_request_ = false;
    reader_.release_head();
    return writer_.ending() == ResponseWriter::Ending::keep && !client_gone_.fired();
}

io::Task<void> ServerConnection::report(std::exception_ptr failure) {
    writer_.close_after();
    try {
        co_await server_.handler.crashed(std::move(failure), writer_);
    } catch (...) {
        writer_.abort();  // it crashed while it reported a crash: the client sees the connection close
    }
}

// A handler must answer in full, except to a client that has gone; a client that is there learns that something
// went wrong.
io::Task<void> ServerConnection::complete_answer() {
    if (writer_.begun() || client_gone_.fired()) {
        writer_.abort();
        co_return;
    }
    writer_.close_after();
    const base::Status sent = co_await writer_.send(500, {}, {});
    static_cast<void>(sent);  // the connection closes in either case
}

// Most bodies are there.
io::Task<std::expected<std::string, BodyError>> ServerConnection::read_body() {
    using Body = std::expected<std::string, BodyError>;
    auto reading = reader_.read_body();
    auto* const read = reading.ended_with();
    if (read == nullptr || !*read) return wait_for_body(std::move(reading));
    notice_client();
    return io::Task<Body>::ended(*std::move(*read));
}

io::Task<std::expected<std::string, BodyError>> ServerConnection::wait_for_body(
    io::Task<std::expected<std::string, HeadError>> reading) {
    auto body = co_await std::move(reading);
    if (!body) {
        writer_.close_after();
        co_return std::unexpected{BodyError{.fault = body.error().fault, .message = std::string{body.error().message}}};
    }
    notice_client();
    co_return std::move(*body);
}

// A client that ends its side while its request is not whole is noticed by whoever reads the request.
void ServerConnection::notice_client() noexcept {
    if (in_request_ && socket_.peer_finished() && reader_.complete()) client_gone_.fire();
}

// Closing while the kernel holds unread bytes would send a reset, which may overtake the response. So we end our
// side first, and listen until the client ends its own; bounded in time and in bytes.
io::Task<void> ServerConnection::close_gently() {
    if (writer_.ending() == ResponseWriter::Ending::reset) {
        socket_.reset();
        co_return;
    }
    const bool more_expected = !reader_.consumed() || reader_.has_pending();
    socket_.finish_writing();
    const auto deadline = server_.now() + linger_total;
    const std::size_t most_bytes = 2 * server_.limits.body_bytes + linger_extra_bytes;
    for (std::size_t bytes = 0; bytes <= most_bytes;) {
        const auto count = socket_.try_read(server_.scratch_span());
        if (!count || count->end_of_stream) break;
        bytes += count->bytes;
        if (count->bytes > 0) continue;
        if (bytes == 0 && !more_expected) break;
        const auto patience = std::min(deadline, server_.now() + linger_silence);
        const base::Status readable = co_await socket_.wait_readable({.deadline = patience, .cancel = &server_.cut});
        if (!readable) break;
    }
}

}  // namespace weir::http
