#pragma once
#include <curl/curl.h>
#include <fcntl.h>
#include <sys/socket.h>

// curl_easy_setopt, curl_easy_getinfo and curl_multi_setopt are variadic, which Swift cannot call.

static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_large(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_headers(CURL *easy, struct curl_slist *list) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
}

/// For CURLOPT_WRITEFUNCTION, CURLOPT_READFUNCTION and CURLOPT_HEADERFUNCTION, which share this shape.
static inline CURLcode ccurl_set_function(
    CURL *easy, CURLoption option, size_t (*function)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(easy, option, function);
}

static inline CURLcode ccurl_get_socket(CURL *easy, curl_socket_t *socket) {
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, socket);
}

static inline CURLcode ccurl_get_status(CURL *easy, long *status) {
    return curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, status);
}

/// Bytes of the requests that were sent, heads included.
static inline long ccurl_get_sent(CURL *easy) {
    long size = 0;
    curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &size);
    return size;
}

static inline CURLcode ccurl_set_seek(CURL *easy, int (*function)(void *, curl_off_t, int)) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, function);
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

/// The next transfer that has ended, or NULL. CURLMsg holds a union, which Swift reads badly.
static inline CURL *ccurl_multi_next_done(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message = curl_multi_info_read(multi, &left);
    while (message && message->msg != CURLMSG_DONE) message = curl_multi_info_read(multi, &left);
    if (!message) return NULL;
    *result = message->data.result;
    return message->easy_handle;
}

/// Waits for the multi handle's sockets, and for `extra` when it is not -1. `writing` chooses the direction for `extra`.
static inline CURLMcode ccurl_multi_poll(CURLM *multi, curl_socket_t extra, int writing, int milliseconds) {
    struct curl_waitfd more = {extra, writing ? CURL_WAIT_POLLOUT : CURL_WAIT_POLLIN, 0};
    return curl_multi_poll(multi, &more, extra == CURL_SOCKET_BAD ? 0 : 1, milliseconds, NULL);
}

static inline curl_socket_t ccurl_open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/// Keeps the sockets from programs that are started meanwhile: one of those could hold a connection open that we closed.
static inline CURLcode ccurl_keep_sockets(CURL *easy) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, ccurl_open_socket);
}
