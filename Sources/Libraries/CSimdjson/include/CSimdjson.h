#pragma once

// simdjson's DOM behind plain C: a reader that owns a padded buffer and a parsed document, and nodes of two words.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sj_reader sj_reader;

/// An element of the reader's document; also where an iteration stands.
typedef struct {
    const void *document;
    size_t index;
} sj_node;

enum { SJ_NULL, SJ_BOOL, SJ_INT, SJ_UINT, SJ_DOUBLE, SJ_STRING, SJ_ARRAY, SJ_OBJECT };

/// Null when memory is short.
sj_reader *sj_reader_create(size_t max_depth);
void sj_reader_destroy(sj_reader *reader);

/// Why a document is refused: simdjson's error codes, those apart that are told apart.
enum { SJ_FINE, SJ_BAD_GRAMMAR, SJ_BAD_STRING, SJ_BAD_NUMBER, SJ_TOO_DEEP, SJ_NO_MEMORY };

/// Copies the bytes in front of 64 bytes of slack, which simdjson wants, and parses them.
/// All nodes and strings of the document before die.
int sj_parse(sj_reader *reader, const uint8_t *bytes, size_t count, sj_node *root);

/// Gives the memory of a large document back.
void sj_reader_trim(sj_reader *reader, size_t above);

int sj_kind(sj_node node);
/// The first value under the key; false when there is none or the node is no object.
bool sj_find(sj_node node, const uint8_t *key, size_t count, sj_node *value);

typedef struct {
    const uint8_t *bytes;
    size_t count;
} sj_key;
/// The first value under each of the keys, in one walk over the object; one that is not there has no document.
void sj_find_all(sj_node node, const sj_key *keys, size_t count, sj_node *values);

bool sj_string(sj_node node, const uint8_t **bytes, size_t *count);
bool sj_int(sj_node node, int64_t *value);
/// Any number.
bool sj_double(sj_node node, double *value);
bool sj_bool(sj_node node, bool *value);

/// How many values an array or an object holds; saturates at 16,777,215. 0 for anything else.
size_t sj_count(sj_node node);
/// Where the iteration of an array or object starts and ends; false for anything else.
bool sj_begin(sj_node node, sj_node *at, sj_node *end);
/// Takes the value (and, in an object, the key) at the position and steps behind it.
void sj_next_value(sj_node *at, sj_node *value);
void sj_next_member(sj_node *at, const uint8_t **key, size_t *key_count, sj_node *value);

#ifdef __cplusplus
}
#endif
