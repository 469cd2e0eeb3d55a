#pragma once

#include <stdbool.h>
#include <stdint.h>

// What steward uses of ICU. The functions are C++ behind a C header because ICU renames its C symbols by macro,
// and because only its C++ interface normalizes UTF-8 as it stands and tells where each piece came from.

#ifdef __cplusplus
extern "C" {
#endif

/// A piece of a normalized text: how many bytes it was made from, how many it has, and whether they differ.
typedef struct {
    int32_t from;
    int32_t to;
    bool changed;
} CICUSpan;

typedef enum { CICU_NFC, CICU_NFKC_CASEFOLD } CICUForm;

/// Writes the normalized text and its pieces. Answers the number of bytes the result has (-1 when ICU fails);
/// when that, or `span_count`, is more than the room given, nothing useful was written and the caller gives more.
int32_t cicu_normalize(
    CICUForm form, const uint8_t *text, int32_t length, uint8_t *out, int32_t capacity, CICUSpan *spans,
    int32_t span_capacity, int32_t *span_count);

/// Maps all scalars that differ in case only to one, each scalar to one. `out` has room for 3 * `length` bytes.
/// Answers the number written.
int32_t cicu_fold_case(const uint8_t *text, int32_t length, uint8_t *out);

/// A word segmenter for one text at a time. NULL when ICU's data are missing.
typedef struct CICUWords CICUWords;
CICUWords *cicu_words_open(void);
void cicu_words_close(CICUWords *words);
/// The text must stay where it is until the next call of this.
bool cicu_words_set(CICUWords *words, const uint8_t *text, int32_t length);
bool cicu_words_is_boundary(CICUWords *words, int32_t position);

enum {
    CICU_LETTER = 1,      ///< general category L
    CICU_MARK = 2,        ///< M
    CICU_NUMBER = 4,      ///< N
    CICU_LATIN = 8,       ///< a letter of the Latin script
    CICU_UNSCRIPTED = 16, ///< script Common, Inherited or Unknown
    CICU_LOOSE_MARK = 32, ///< a mark that adorns a letter and is not one itself in its script
    CICU_UPPER = 64,      ///< an upper-case letter
};
int32_t cicu_kind(uint32_t scalar);
/// The general category, a value of ICU's UCharCategory.
int32_t cicu_category(uint32_t scalar);
/// The Word_Break property, a value of ICU's UWordBreakValues.
int32_t cicu_word_break(uint32_t scalar);
int32_t cicu_script(uint32_t scalar);
/// "Latn", "Cyrl", … of a script's number.
const char *cicu_script_name(int32_t script);
/// The letter below all adornments ("é" → "e"), or the scalar itself.
uint32_t cicu_base(uint32_t scalar);
/// The lower-case ASCII letter that the scalar can be mistaken for, or 0. `or_capital`: or that its capital can.
uint8_t cicu_latin_look(uint32_t scalar, bool or_capital);

/// A host name as it is in DNS, lower case. Answers its length, or -1 when it is none.
int32_t cicu_host_to_ascii(const uint8_t *host, int32_t length, uint8_t *out, int32_t capacity);

#ifdef __cplusplus
}
#endif
