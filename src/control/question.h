// Question: one GET to an engine on a connection of its own, answered whole or failed by its deadline.
// A fresh connection each time: it proves that the engine still accepts them, and no idle one can have died meanwhile.
// Threads: the reactor's.
#pragma once

#include "base/result.h"
#include "config/secret.h"
#include "http/client.h"
#include "io/reactor.h"
#include "io/task.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::control {

inline constexpr std::size_t max_answer_bytes = 1024 * 1024;

struct Answer {
    int status = 0;
    std::string body;
};

// The request's bytes. A credential with a control character (it would end the header) is not sent.
[[nodiscard]] std::string get_request(std::string_view path, std::string_view authority,
                                      const config::Secret& credential);

// Errors: those of http::ClientPool and http::Exchange; too_large beyond max_answer_bytes. `client` outlives the task.
[[nodiscard]] io::Task<base::Result<Answer>> ask(http::ClientPool& client, http::Origin origin, std::string request,
                                                 io::Wait wait);

}  // namespace weir::control
