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

// Makes the write-ahead log that long, with zeros: a commit that writes over what is there need not wait until the file
// system has noted that the file has grown. Only with the write lock held, for others may be at its end.
static inline int sqlite_reserve_log(sqlite3 *handle, sqlite3_int64 size)
{
    static const char zeros[65536];
    sqlite3_file *log = (sqlite3_file *)0;
    sqlite3_int64 end = 0;
    int result = sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (result != SQLITE_OK || !log || !log->pMethods) return result;
    result = log->pMethods->xFileSize(log, &end);
    while (result == SQLITE_OK && end < size) {
        sqlite3_int64 left = size - end;
        int count = left < (sqlite3_int64)sizeof zeros ? (int)left : (int)sizeof zeros;
        result = log->pMethods->xWrite(log, zeros, count, end);
        end += count;
    }
    return result;
}

// glibc declares it for GNU's dialect of C only. Unlike strerror it is safe between threads. Null for no error.
const char *strerrordesc_np(int error);
