#pragma once

#include <zlib.h>

// The window's size says which format: 16 more than its bits for gzip, which Swift would have to know. The real
// functions are macros that add the version.
static inline int zlib_begin_gzip(z_stream *stream)
{
    return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}

static inline int zlib_begin_gunzip(z_stream *stream)
{
    return inflateInit2(stream, 15 + 16);
}
