#pragma once

#include <sqlite3.h>

// SQLITE_TRANSIENT (take a copy) is a cast to a function pointer, which Swift does not import.
static inline int sqlite_bind_text(sqlite3_stmt *statement, int place, const void *text, sqlite3_uint64 count)
{
    return sqlite3_bind_text64(statement, place, (const char *)text, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int sqlite_bind_blob(sqlite3_stmt *statement, int place, const void *bytes, sqlite3_uint64 count)
{
    return sqlite3_bind_blob64(statement, place, bytes, count, SQLITE_TRANSIENT);
}

// Variadic.
static inline int sqlite_configure(sqlite3 *handle, int option, int value)
{
    return sqlite3_db_config(handle, option, value, (int *)0);
}

// glibc declares it for GNU's dialect of C only. Unlike strerror it is safe between threads. Null for no error.
const char *strerrordesc_np(int error);
