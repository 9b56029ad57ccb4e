// Request messages that two parsers could read differently: each must be refused, and none may become two requests.
// Only tests include this.
#pragma once

#include <string>
#include <vector>

namespace weir::http::test {

struct AmbiguousMessage {
    std::string name;
    std::string bytes;
};

// Every one carries a second request where a lenient parser would find it.
inline std::vector<AmbiguousMessage> ambiguous_heads() {
    const std::string second = "GET /second HTTP/1.1\r\nHost: b\r\n\r\n";
    const auto post = [&second](const std::string& fields, const std::string& body = "") {
        return "POST /first HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n" + body + second;
    };
    const auto line = [&second](const std::string& text) { return text + "Host: a\r\n\r\n" + second; };
    return {
        // Framing.
        {"length and coding", post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
        {"coding and length", post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n")},
        {"two different lengths", post("Content-Length: 0\r\nContent-Length: 5\r\n", "hello")},
        {"two equal lengths", post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello")},
        {"a list of equal lengths", post("Content-Length: 5, 5\r\n", "hello")},
        {"a list of different lengths", post("Content-Length: 0, 5\r\n", "hello")},
        {"a positive sign", post("Content-Length: +5\r\n", "hello")},
        {"a negative length", post("Content-Length: -5\r\n", "hello")},
        {"a hexadecimal length", post("Content-Length: 0x5\r\n", "hello")},
        {"a length with a fraction", post("Content-Length: 5.0\r\n", "hello")},
        {"a length with a blank within", post("Content-Length: 5 0\r\n", "hello")},
        {"an empty length", post("Content-Length: \r\n", "hello")},
        {"a length in words", post("Content-Length: five\r\n", "hello")},
        {"a length over 64 bits", post("Content-Length: 18446744073709551621\r\n", "hello")},
        {"a length of many zeros", post("Content-Length: 0000000000000000000005\r\n", "hello")},
        {"a coding that is not chunked", post("Transfer-Encoding: gzip\r\n")},
        {"identity", post("Transfer-Encoding: identity\r\nContent-Length: 5\r\n", "hello")},
        {"gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n")},
        {"chunked, gzip", post("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n")},
        {"chunked twice in a list", post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n")},
        {"chunked twice in two fields",
         post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
        {"chunked and identity", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n")},
        {"quoted chunked", post("Transfer-Encoding: \"chunked\"\r\n", "0\r\n\r\n")},
        {"chunked with a parameter", post("Transfer-Encoding: chunked;q=1\r\n", "0\r\n\r\n")},
        {"almost chunked", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n")},
        {"chunked with a vertical tab", post("Transfer-Encoding: \vchunked\r\n", "0\r\n\r\n")},
        {"an empty coding", post("Transfer-Encoding: \r\n", "0\r\n\r\n")},
        {"a coding in HTTP/1.0",
         "POST /first HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + second},
        // Names and line structure.
        {"a blank before the colon of the length", post("Content-Length : 5\r\n", "hello")},
        {"a tab before the colon of the coding", post("Transfer-Encoding\t: chunked\r\n", "0\r\n\r\n")},
        {"a folded coding", post("Transfer-Encoding:\r\n chunked\r\n", "0\r\n\r\n")},
        {"a folded value", post("X-A: b\r\n\tc\r\n")},
        {"a field before which is a blank", "POST /first HTTP/1.1\r\n Host: a\r\n\r\n" + second},
        {"a field without a colon", post("Content-Length 5\r\n", "hello")},
        {"a field without a name", post(": 5\r\n")},
        {"a name with a control character", post("Content-Length\x01: 5\r\n", "hello")},
        {"a name with a letter beyond ASCII", post("Content-Length\xC3\xA4: 5\r\n", "hello")},
        {"a name in brackets", post("(Content-Length): 5\r\n", "hello")},
        {"NUL in a name", post(std::string{"Content\0Length: 5\r\n", 19}, "hello")},
        {"NUL in a value", post(std::string{"X-A: b\0c\r\n", 10})},
        {"a bare CR in a value", post("X-A: b\rContent-Length: 5\r\n", "hello")},
        {"a bare CR before CRLF", post("X-A: b\r\r\n")},
        {"a bare LF behind a value", post("X-A: b\nContent-Length: 5\r\n", "hello")},
        {"a bare LF at the end of the head", "GET /first HTTP/1.1\r\nHost: a\r\n\n" + second},
        {"only bare LFs", "GET /first HTTP/1.1\nHost: a\n\n" + second},
        {"DEL in a value", post("X-A: b\x7F\r\n")},
        // The host.
        {"no host", "GET /first HTTP/1.1\r\nX-A: b\r\n\r\n" + second},
        {"two hosts", post("Host: b\r\n")},
        {"an empty host", "GET /first HTTP/1.1\r\nHost:\r\n\r\n" + second},
        {"a host with a path", "GET /first HTTP/1.1\r\nHost: a/b\r\n\r\n" + second},
        {"a host with a user", "GET /first HTTP/1.1\r\nHost: user@a\r\n\r\n" + second},
        {"a list of hosts", "GET /first HTTP/1.1\r\nHost: a, b\r\n\r\n" + second},
        // The request line.
        {"no version", line("GET /first\r\n")},
        {"HTTP/0.9 shape", "GET /first\r\n\r\n" + second},
        {"two blanks", line("GET  /first HTTP/1.1\r\n")},
        {"a tab instead of a blank", line("GET\t/first HTTP/1.1\r\n")},
        {"a blank at the end", line("GET /first HTTP/1.1 \r\n")},
        {"a blank in the target", line("GET /fi rst HTTP/1.1\r\n")},
        {"a blank before the method", line(" GET /first HTTP/1.1\r\n")},
        {"a method that is no token", line("GE(T /first HTTP/1.1\r\n")},
        {"a fragment", line("GET /first#part HTTP/1.1\r\n")},
        {"a target beyond ASCII", line("GET /f\xC3\xA4 HTTP/1.1\r\n")},
        {"a control character in the target", line("GET /f\x01 HTTP/1.1\r\n")},
        {"a target that is no path", line("GET first HTTP/1.1\r\n")},
        {"the asterisk form", line("OPTIONS * HTTP/1.1\r\n")},
        {"the authority form", line("CONNECT a:80 HTTP/1.1\r\n")},
        {"an absolute target without a host", line("GET http:///first HTTP/1.1\r\n")},
        {"an absolute target with a user", line("GET http://u@a/first HTTP/1.1\r\n")},
        {"another scheme", line("GET ftp://a/first HTTP/1.1\r\n")},
        {"a version in lower case", line("GET /first http/1.1\r\n")},
        {"HTTP/2", line("GET /first HTTP/2.0\r\n")},
        {"HTTP/1.2", line("GET /first HTTP/1.2\r\n")},
        {"HTTP/1.10", line("GET /first HTTP/1.10\r\n")},
        {"HTTP/01.1", line("GET /first HTTP/01.1\r\n")},
        {"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + second},
        {"two blank lines before", "\r\n\r\nGET /first HTTP/1.1\r\nHost: a\r\n\r\n" + second},
        // Others.
        {"an unknown expectation", post("Expect: 200-ok\r\nContent-Length: 5\r\n", "hello")},
        {"the start of a TLS handshake", std::string{"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11} + second},
    };
}

// A head that is well formed, and a chunked body that is not.
inline std::vector<AmbiguousMessage> ambiguous_chunks() {
    const std::string second = "GET /second HTTP/1.1\r\nHost: b\r\n\r\n";
    const auto post = [&second](const std::string& body) {
        return "POST /first HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + body + second;
    };
    return {
        {"no size", post("\r\n\r\n")},
        {"a signed size", post("+5\r\nhello\r\n0\r\n\r\n")},
        {"0x", post("0x5\r\nhello\r\n0\r\n\r\n")},
        {"a blank behind the size", post("5 \r\nhello\r\n0\r\n\r\n")},
        {"a bare LF behind the size", post("5\nhello\r\n0\r\n\r\n")},
        {"a bare LF in an extension", post("5;x\nhello\r\n0\r\n\r\n")},
        {"a bare CR behind the size", post("5\rhello\r\n0\r\n\r\n")},
        {"a bare LF behind the data", post("5\r\nhello\n0\r\n\r\n")},
        {"data longer than its size", post("4\r\nhello\r\n0\r\n\r\n")},
        {"a size over 64 bits", post("10000000000000005\r\nhello\r\n0\r\n\r\n")},
        {"a bare LF at the end", post("0\r\n\n")},
        {"a folded trailer", post("0\r\nX: a\r\n b\r\n\r\n")},
        {"a trailer that is a request line", post("0\r\nGET /smuggled HTTP/1.1\r\n\r\n")},
    };
}

}  // namespace weir::http::test
