#include "CICU.h"

#include <memory>

#include <unicode/brkiter.h>
#include <unicode/bytestream.h>
#include <unicode/edits.h>
#include <unicode/idna.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/uspoof.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>

using namespace icu;

namespace {

const Normalizer2 *normalizer(CICUForm form, UErrorCode &status) {
    return form == CICU_NFC ? Normalizer2::getNFCInstance(status) : Normalizer2::getNFKCCasefoldInstance(status);
}

/// Opened once and never closed; ICU allows any number of threads to ask it.
const USpoofChecker *spoofChecker() {
    static const USpoofChecker *const checker = [] {
        UErrorCode status = U_ZERO_ERROR;
        USpoofChecker *opened = uspoof_open(&status);
        return U_SUCCESS(status) ? opened : nullptr;
    }();
    return checker;
}

const IDNA *idna() {
    static const IDNA *const instance = [] {
        UErrorCode status = U_ZERO_ERROR;
        const uint32_t options = UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII;
        IDNA *opened = IDNA::createUTS46Instance(options, status);
        return U_SUCCESS(status) ? opened : nullptr;
    }();
    return instance;
}

bool isLooseMark(UChar32 c) {
    const int8_t category = u_charType(c);
    if (category != U_NON_SPACING_MARK && category != U_ENCLOSING_MARK) return false;
    // The voicing marks of kana make another letter of it.
    if (c == 0x3099 || c == 0x309A) return false;
    UErrorCode status = U_ZERO_ERROR;
    switch (uscript_getScript(c, &status)) {
    case USCRIPT_INHERITED:
    case USCRIPT_COMMON:
    case USCRIPT_HEBREW:
    case USCRIPT_ARABIC:
    case USCRIPT_LATIN:
    case USCRIPT_GREEK:
    case USCRIPT_CYRILLIC:
        return true;
    default:
        // Vowels of Thai, Devanagari and their like.
        return false;
    }
}

/// Small capitals and phonetic letters, to which the look-alike data lead and which lead no further; and the
/// palochka, which the data take for an "i" and forgers for an "l".
UChar32 plainLetter(UChar32 c) {
    static const struct {
        UChar32 from;
        char to;
    } table[] = {
        {0x0138, 'k'}, {0x0251, 'a'}, {0x025B, 'e'}, {0x0261, 'g'}, {0x0262, 'g'}, {0x0269, 'i'}, {0x026A, 'i'},
        {0x0274, 'n'}, {0x0280, 'r'}, {0x028B, 'u'}, {0x028D, 'm'}, {0x028F, 'y'}, {0x0299, 'b'}, {0x029C, 'h'},
        {0x029F, 'l'}, {0x1D00, 'a'}, {0x1D04, 'c'}, {0x1D05, 'd'}, {0x1D07, 'e'}, {0x1D0A, 'j'}, {0x1D0B, 'k'},
        {0x1D0D, 'm'}, {0x1D0F, 'o'}, {0x1D18, 'p'}, {0x1D1B, 't'}, {0x1D1C, 'u'}, {0x1D20, 'v'}, {0x1D21, 'w'},
        {0x1D22, 'z'}, {0xA730, 'f'}, {0xA731, 's'}, {0xA7AF, 'q'}, {0x04C0, 'l'}, {0x04CF, 'l'},
    };
    for (const auto &row : table)
        if (row.from == c) return row.to;
    return c;
}

char asciiLetter(UChar32 c) {
    c = plainLetter(c);
    if (c >= 'A' && c <= 'Z') return char(c + 32);
    return c >= 'a' && c <= 'z' ? char(c) : 0;
}

char lookOf(UChar32 c) {
    if (char letter = asciiLetter(c)) return letter;
    const USpoofChecker *checker = spoofChecker();
    if (checker == nullptr) return 0;
    char16_t source[2], skeleton[32];
    int32_t length = 0;
    U16_APPEND_UNSAFE(source, length, c);
    UErrorCode status = U_ZERO_ERROR;
    const int32_t count = uspoof_getSkeleton(checker, 0, source, length, skeleton, 32, &status);
    if (U_FAILURE(status) || count > 32) return 0;
    char letters[3];
    int found = 0;
    for (int32_t i = 0; i < count;) {
        UChar32 part;
        U16_NEXT(skeleton, i, count, part);
        if (isLooseMark(part)) continue;
        const char letter = asciiLetter(part);
        if (letter == 0 || found == 2) return 0;
        letters[found++] = letter;
    }
    // The data spell "m" as "rn".
    if (found == 2) return letters[0] == 'r' && letters[1] == 'n' ? 'm' : 0;
    return found == 1 ? letters[0] : 0;
}

}  // namespace

int32_t cicu_normalize(
    CICUForm form, const uint8_t *text, int32_t length, uint8_t *out, int32_t capacity, CICUSpan *spans,
    int32_t span_capacity, int32_t *span_count) {
    UErrorCode status = U_ZERO_ERROR;
    const Normalizer2 *normal = normalizer(form, status);
    if (U_FAILURE(status)) return -1;
    CheckedArrayByteSink sink(reinterpret_cast<char *>(out), capacity);
    Edits edits;
    normal->normalizeUTF8(
        0, StringPiece(reinterpret_cast<const char *>(text), length), sink, &edits, status);
    if (U_FAILURE(status)) return -1;
    int32_t count = 0;
    for (Edits::Iterator piece = edits.getFineIterator(); piece.next(status); ++count)
        if (count < span_capacity)
            spans[count] = {piece.oldLength(), piece.newLength(), bool(piece.hasChange())};
    *span_count = count;
    return U_SUCCESS(status) ? sink.NumberOfBytesAppended() : -1;
}

int32_t cicu_fold_case(const uint8_t *text, int32_t length, uint8_t *out) {
    int32_t written = 0;
    for (int32_t i = 0; i < length;) {
        UChar32 c;
        U8_NEXT_OR_FFFD(text, i, length, c);
        // Lower case alone leaves "ς" beside "σ", folding alone "İ" beside "i".
        c = u_foldCase(u_tolower(c), U_FOLD_CASE_DEFAULT);
        U8_APPEND_UNSAFE(out, written, c);
    }
    return written;
}

struct CICUWords {
    std::unique_ptr<BreakIterator> iterator;
    UText text = UTEXT_INITIALIZER;

    ~CICUWords() { utext_close(&text); }
};

CICUWords *cicu_words_open(void) {
    UErrorCode status = U_ZERO_ERROR;
    std::unique_ptr<BreakIterator> iterator(BreakIterator::createWordInstance(Locale::getRoot(), status));
    if (U_FAILURE(status) || !iterator) return nullptr;
    auto *words = new CICUWords();
    words->iterator = std::move(iterator);
    return words;
}

void cicu_words_close(CICUWords *words) { delete words; }

bool cicu_words_set(CICUWords *words, const uint8_t *text, int32_t length) {
    UErrorCode status = U_ZERO_ERROR;
    utext_openUTF8(&words->text, reinterpret_cast<const char *>(text), length, &status);
    words->iterator->setText(&words->text, status);
    return U_SUCCESS(status);
}

bool cicu_words_is_boundary(CICUWords *words, int32_t position) { return words->iterator->isBoundary(position); }

int32_t cicu_kind(uint32_t scalar) {
    const UChar32 c = UChar32(scalar);
    const uint32_t category = U_GET_GC_MASK(c);
    int32_t kind = 0;
    if (category & U_GC_L_MASK) kind |= CICU_LETTER;
    if (category & U_GC_M_MASK) kind |= CICU_MARK;
    if (category & U_GC_N_MASK) kind |= CICU_NUMBER;
    if (category & U_GC_LU_MASK) kind |= CICU_UPPER;
    if ((category & U_GC_M_MASK) && isLooseMark(c)) kind |= CICU_LOOSE_MARK;
    const int32_t script = cicu_script(scalar);
    if (script == USCRIPT_LATIN && (category & U_GC_L_MASK)) kind |= CICU_LATIN;
    if (script == USCRIPT_COMMON || script == USCRIPT_INHERITED || script == USCRIPT_UNKNOWN)
        kind |= CICU_UNSCRIPTED;
    return kind;
}

int32_t cicu_category(uint32_t scalar) { return u_charType(UChar32(scalar)); }

int32_t cicu_word_break(uint32_t scalar) { return u_getIntPropertyValue(UChar32(scalar), UCHAR_WORD_BREAK); }

int32_t cicu_script(uint32_t scalar) {
    UErrorCode status = U_ZERO_ERROR;
    const UScriptCode script = uscript_getScript(UChar32(scalar), &status);
    return U_SUCCESS(status) ? script : USCRIPT_UNKNOWN;
}

const char *cicu_script_name(int32_t script) {
    const char *name = uscript_getShortName(UScriptCode(script));
    return name ? name : "Zzzz";
}

uint32_t cicu_base(uint32_t scalar) {
    UErrorCode status = U_ZERO_ERROR;
    const Normalizer2 *nfd = Normalizer2::getNFDInstance(status);
    UnicodeString parts;
    if (U_FAILURE(status) || !nfd->getDecomposition(UChar32(scalar), parts)) return scalar;
    const UChar32 first = parts.char32At(0);
    for (int32_t i = U16_LENGTH(first); i < parts.length(); i = parts.moveIndex32(i, 1))
        if (!isLooseMark(parts.char32At(i))) return scalar;
    return uint32_t(first);
}

uint8_t cicu_latin_look(uint32_t scalar, bool or_capital) {
    const UChar32 c = UChar32(scalar);
    char look = lookOf(c);
    // A capital I of any script looks like "l" to the data, and is an "i" to people.
    if (look == 'l' && u_isupper(c) && c != 0x04C0 && lookOf(u_tolower(c)) == 'i') look = 'i';
    if (look == 0 && or_capital && u_toupper(c) != c) look = lookOf(u_toupper(c));
    return uint8_t(look);
}

int32_t cicu_host_to_ascii(const uint8_t *host, int32_t length, uint8_t *out, int32_t capacity) {
    const IDNA *instance = idna();
    if (instance == nullptr) return -1;
    CheckedArrayByteSink sink(reinterpret_cast<char *>(out), capacity);
    IDNAInfo info;
    UErrorCode status = U_ZERO_ERROR;
    instance->nameToASCII_UTF8(StringPiece(reinterpret_cast<const char *>(host), length), sink, info, status);
    if (U_FAILURE(status) || info.hasErrors() || sink.Overflowed()) return -1;
    return sink.NumberOfBytesWritten();
}
