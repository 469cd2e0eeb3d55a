#pragma once

#include <stddef.h>
#include <stdint.h>

// cctz behind a C header. Everything here may be asked by any number of threads at once.

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CCctzZone CCctzZone;

/// NULL if the system has no such zone. `name` ends with a NUL.
CCctzZone *ccctz_open(const char *name);
void ccctz_free(CCctzZone *zone);

typedef struct {
    int32_t offset;              ///< seconds east of Greenwich
    const char *abbreviation;    ///< lives as long as the process
} CCctzOffset;

/// What holds in the zone at a moment, in seconds since 1970.
CCctzOffset ccctz_offset(const CCctzZone *zone, int64_t moment);

typedef enum { CCctzUnique, CCctzSkipped, CCctzRepeated } CCctzKind;

/// The moments of a civil time: by the offset before and after a change of clocks, and the change itself.
typedef struct {
    CCctzKind kind;
    int64_t before;
    int64_t change;
    int64_t after;
} CCctzMoments;

/// `civil`: the civil time as seconds since 1970 as if it were UTC.
CCctzMoments ccctz_moments(const CCctzZone *zone, int64_t civil);

#ifdef __cplusplus
}
#endif
