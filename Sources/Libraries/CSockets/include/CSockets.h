#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/// What happened on a watched socket.
typedef struct {
    uint64_t key;
    /// There is something to read: bytes, the peer's end, or an error.
    int readable;
    /// There is room to write again.
    int writable;
} SocketsEvent;

/// A new epoll descriptor, or -1.
int sockets_epoll(void);

/// A new eventfd that does not block, or -1.
int sockets_bell(void);

/// Watches a socket, edge-triggered, in both directions. 0, or -1 and errno.
int sockets_watch(int epoll, int descriptor, uint64_t key);

/// Stops watching; must come before the descriptor is closed or given away.
void sockets_unwatch(int epoll, int descriptor);

/// Waits for events at most `milliseconds` (-1: without limit). The number of events; 0 when interrupted.
int sockets_wait(int epoll, SocketsEvent *events, int count, int milliseconds);

/// Accepts a connection that does not block and is not inherited. Its descriptor, or -1 and errno.
int sockets_accept(int listener, struct sockaddr *address, socklen_t *length);

/// Reads what has arrived without waiting, as `recv` does.
ptrdiff_t sockets_receive(int descriptor, void *bytes, size_t count);

/// Writes what fits without waiting and without a signal when the peer is gone, as `send` does.
ptrdiff_t sockets_send(int descriptor, const void *bytes, size_t count);

/// Flips `count` bytes with the masking key of RFC 6455 section 5.3, whose first byte is the lowest of `key`.
/// `phase` is how many bytes of the payload came before.
void sockets_mask(void *bytes, size_t count, uint32_t key, size_t phase);

/// Starts a detached thread that takes no signals, and calls `body` with `context` on it. 0, or what pthread_create says.
/// In C, because Swift finds pthread_attr_t in whichever C module was the first to include it.
int sockets_start_thread(const char *name, void (*body)(void *), void *context);
