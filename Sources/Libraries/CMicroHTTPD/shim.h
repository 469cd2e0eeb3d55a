#pragma once
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>

// MHD_start_daemon and MHD_get_connection_info are variadic, which Swift cannot call.

typedef void *(*CMHDTargetCallback)(void *context, const char *target, struct MHD_Connection *connection);

/// Starts the daemon on its own epoll thread, for connections that are added, and may be suspended and upgraded.
/// `idle` is seconds without a byte. The thread takes no signals: it inherits the mask.
static inline struct MHD_Daemon *cmhd_start(
    unsigned int connections, size_t memory, unsigned int idle, void *context,
    MHD_AccessHandlerCallback handle, CMHDTargetCallback target, MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback connection, MHD_LogCallback complaint) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE | MHD_USE_ERROR_LOG,
        0, NULL, NULL, handle, context, MHD_OPTION_EXTERNAL_LOGGER, complaint, context,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_CONNECTION_TIMEOUT, idle,
        MHD_OPTION_URI_LOG_CALLBACK, target, context, MHD_OPTION_NOTIFY_COMPLETED,
        completed, context, MHD_OPTION_NOTIFY_CONNECTION, connection, context, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return daemon;
}

static inline int cmhd_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static inline const struct sockaddr *cmhd_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

static inline void *cmhd_socket_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static inline size_t cmhd_head_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

// MHD_upgrade_action is variadic, too.
static inline void cmhd_end_upgrade(struct MHD_UpgradeResponseHandle *handle) {
    MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
}
