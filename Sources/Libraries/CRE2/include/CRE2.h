#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// RE2 behind a C header. Everything here may be asked by any number of threads at once after it was made.

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CRE2 CRE2;

typedef struct {
    bool too_large;        ///< the program did not fit into `max_memory`
    int32_t offset;        ///< where in the pattern, or -1
    char message[256];     ///< what RE2 said, NUL-terminated
} CRE2Error;

/// A stretch of the text; `start` is -1 for a group that took no part.
typedef struct {
    int32_t start;
    int32_t end;
} CRE2Range;

/// NULL on a mistake in the pattern, which `error` then tells.
CRE2 *cre2_compile(const uint8_t *pattern, size_t length, int64_t max_memory, CRE2Error *error);
void cre2_free(CRE2 *regex);
int32_t cre2_group_count(const CRE2 *regex);
int32_t cre2_program_size(const CRE2 *regex);
/// The name of a group (1 is the first), or NULL.
const char *cre2_group_name(const CRE2 *regex, int32_t group);
/// Looks for the leftmost match. `ranges` are filled with the whole and the first groups, none if `count` is 0.
bool cre2_match(const CRE2 *regex, const uint8_t *text, size_t length, CRE2Range *ranges, int32_t count);

/// Tells by the strings found in a text which regexes of a set may match it.
typedef struct CRE2Filter CRE2Filter;
CRE2Filter *cre2_filter_open(int32_t min_atom);
void cre2_filter_free(CRE2Filter *filter);
bool cre2_filter_add(CRE2Filter *filter, const uint8_t *pattern, size_t length, int64_t max_memory);
/// After the last was added, and only if there was one. Answers the number of strings to look for.
int32_t cre2_filter_compile(CRE2Filter *filter);
/// One of the strings, lower case.
const uint8_t *cre2_filter_atom(const CRE2Filter *filter, int32_t atom, size_t *length);
/// Writes the numbers of the regexes that may match, in rising order; `out` has room for all.
int32_t cre2_filter_candidates(const CRE2Filter *filter, const int32_t *atoms, int32_t count, int32_t *out);

/// RE2's own set of expressions, which our way of looking for many is compared with.
typedef struct CRE2Set CRE2Set;
CRE2Set *cre2_set_open(int64_t max_memory);
void cre2_set_free(CRE2Set *set);
bool cre2_set_add(CRE2Set *set, const uint8_t *pattern, size_t length);
bool cre2_set_compile(CRE2Set *set);
/// The number of expressions that match, or -1 when the memory did not do.
int32_t cre2_set_match(const CRE2Set *set, const uint8_t *text, size_t length);

#ifdef __cplusplus
}
#endif
