#include "CSockets.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

int sockets_epoll(void) { return epoll_create1(EPOLL_CLOEXEC); }

int sockets_bell(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int sockets_watch(int epoll, int descriptor, uint64_t key) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.u64 = key};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

void sockets_unwatch(int epoll, int descriptor) {
    struct epoll_event unused = {0};
    epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &unused);
}

int sockets_wait(int epoll, SocketsEvent *events, int count, int milliseconds) {
    struct epoll_event found[256];
    if (count > 256) count = 256;
    int n = epoll_wait(epoll, found, count, milliseconds);
    if (n < 0) return errno == EINTR ? 0 : -1;
    for (int i = 0; i < n; i++) {
        events[i].key = found[i].data.u64;
        events[i].readable = (found[i].events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
        events[i].writable = (found[i].events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0;
    }
    return n;
}

// Declared here, because _GNU_SOURCE would change other types of the system's headers.
int accept4(int, struct sockaddr *, socklen_t *, int);

int sockets_accept(int listener, struct sockaddr *address, socklen_t *length) {
    return accept4(listener, address, length, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

// In C, because Swift finds these flags in whichever C module was the first to include them.
ptrdiff_t sockets_receive(int descriptor, void *bytes, size_t count) {
    return recv(descriptor, bytes, count, MSG_DONTWAIT);
}

ptrdiff_t sockets_send(int descriptor, const void *bytes, size_t count) {
    return send(descriptor, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void sockets_mask(void *bytes, size_t count, uint32_t key, size_t phase) {
    uint8_t turned[8];
    for (size_t i = 0; i < 8; i++) turned[i] = (uint8_t)(key >> (8 * ((phase + i) & 3)));
    uint64_t wide;
    memcpy(&wide, turned, 8);
    uint8_t *at = bytes;
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t word;
        memcpy(&word, at + i, 8);
        word ^= wide;
        memcpy(at + i, &word, 8);
    }
    for (; i < count; i++) at[i] ^= turned[i & 7];
}

struct start {
    char name[16];
    void (*body)(void *);
    void *context;
};

static void *run(void *pointer) {
    struct start start = *(struct start *)pointer;
    free(pointer);
    // pthread_setname_np would need _GNU_SOURCE, which changes other types of the system's headers.
    prctl(PR_SET_NAME, start.name, 0, 0, 0);
    start.body(start.context);
    return NULL;
}

int sockets_start_thread(const char *name, void (*body)(void *), void *context) {
    struct start *start = malloc(sizeof *start);
    if (!start) return ENOMEM;
    strncpy(start->name, name, sizeof start->name - 1);
    start->name[sizeof start->name - 1] = 0;
    start->body = body;
    start->context = context;

    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    // The thread inherits the mask: signals stay with the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int status = pthread_create(&thread, &attributes, run, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (status != 0) free(start);
    return status;
}
