#include "CSimdjson.h"

#include <simdjson.h>

#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

using namespace simdjson;

namespace {

constexpr size_t smallest_capacity = 4096;

// The constructors of simdjson's element and iterators are private. All of them are a document's address and an
// index and nothing else, which is checked here.
template <typename T>
T as(sj_node node) {
    static_assert(sizeof(T) == sizeof(sj_node) && std::is_trivially_copyable_v<T>);
    alignas(T) unsigned char words[sizeof(T)];
    std::memcpy(words, &node, sizeof node);
    return *std::launder(reinterpret_cast<T *>(words));
}

template <typename T>
sj_node node_of(const T &value) {
    static_assert(sizeof(T) == sizeof(sj_node) && std::is_trivially_copyable_v<T>);
    sj_node node;
    std::memcpy(&node, &value, sizeof node);
    return node;
}

int reason(error_code error) {
    switch (error) {
        case SUCCESS: return SJ_FINE;
        case STRING_ERROR:
        case UNESCAPED_CHARS: return SJ_BAD_STRING;
        case NUMBER_ERROR:
        case NUMBER_OUT_OF_RANGE: return SJ_BAD_NUMBER;
        case DEPTH_ERROR: return SJ_TOO_DEEP;
        case MEMALLOC:
        case CAPACITY: return SJ_NO_MEMORY;
        default: return SJ_BAD_GRAMMAR;
    }
}

}  // namespace

struct sj_reader {
    dom::parser parser;
    std::unique_ptr<uint8_t[]> buffer;
    size_t capacity = 0;
    size_t max_depth;

    explicit sj_reader(size_t depth) : max_depth(depth) {}

    error_code reserve(size_t count) {
        if (capacity > 0 && count <= capacity) return SUCCESS;
        size_t wanted = smallest_capacity;
        while (wanted < count) wanted *= 2;
        capacity = 0;
        buffer.reset(new (std::nothrow) uint8_t[wanted + SIMDJSON_PADDING]);
        if (!buffer) return MEMALLOC;
        // parse() would grow them to the exact size, again for each document a little larger.
        if (auto error = parser.allocate(wanted, max_depth)) return error;
        if (auto error = parser.doc.allocate(wanted)) return error;
        capacity = wanted;
        return SUCCESS;
    }
};

sj_reader *sj_reader_create(size_t max_depth) { return new (std::nothrow) sj_reader(max_depth); }

void sj_reader_destroy(sj_reader *reader) { delete reader; }

int sj_parse(sj_reader *reader, const uint8_t *bytes, size_t count, sj_node *root) {
    if (auto error = reader->reserve(count)) return reason(error);
    if (count > 0) std::memcpy(reader->buffer.get(), bytes, count);
    std::memset(reader->buffer.get() + count, ' ', SIMDJSON_PADDING);
    dom::element element;
    if (auto error = reader->parser.parse(reader->buffer.get(), count, false).get(element)) return reason(error);
    *root = node_of(element);
    return SJ_FINE;
}

void sj_reader_trim(sj_reader *reader, size_t above) {
    if (reader->capacity <= above) return;
    reader->capacity = 0;
    reader->buffer.reset();
    reader->parser = dom::parser();
}

int sj_kind(sj_node node) {
    switch (as<dom::element>(node).type()) {
        case dom::element_type::ARRAY: return SJ_ARRAY;
        case dom::element_type::OBJECT: return SJ_OBJECT;
        case dom::element_type::INT64: return SJ_INT;
        case dom::element_type::UINT64: return SJ_UINT;
        case dom::element_type::DOUBLE: return SJ_DOUBLE;
        case dom::element_type::STRING: return SJ_STRING;
        case dom::element_type::BOOL: return SJ_BOOL;
        case dom::element_type::NULL_VALUE: return SJ_NULL;
    }
    return SJ_NULL;
}

bool sj_find(sj_node node, const uint8_t *key, size_t count, sj_node *value) {
    dom::object object;
    if (as<dom::element>(node).get(object)) return false;
    dom::element found;
    if (object.at_key({reinterpret_cast<const char *>(key), count}).get(found)) return false;
    *value = node_of(found);
    return true;
}

void sj_find_all(sj_node node, const sj_key *keys, size_t count, sj_node *values) {
    for (size_t i = 0; i < count; i++) values[i] = {nullptr, 0};
    dom::object object;
    if (as<dom::element>(node).get(object)) return;
    size_t next = 0, missing = count;
    for (auto field = object.begin(), end = object.end(); field != end && missing > 0; ++field) {
        auto name = field.key();
        // Members mostly come in the order in which they are asked for: the next one is tried first.
        for (size_t tried = 0, i = next; tried < count; tried++, i = i + 1 < count ? i + 1 : 0) {
            if (keys[i].count != name.size() || std::memcmp(keys[i].bytes, name.data(), name.size()) != 0) continue;
            if (!values[i].document) {
                values[i] = node_of(field.value());
                missing--;
            }
            next = i + 1 < count ? i + 1 : 0;
            break;
        }
    }
}

bool sj_string(sj_node node, const uint8_t **bytes, size_t *count) {
    std::string_view text;
    if (as<dom::element>(node).get(text)) return false;
    *bytes = reinterpret_cast<const uint8_t *>(text.data());
    *count = text.size();
    return true;
}

bool sj_int(sj_node node, int64_t *value) { return !as<dom::element>(node).get(*value); }

bool sj_double(sj_node node, double *value) { return !as<dom::element>(node).get(*value); }

bool sj_bool(sj_node node, bool *value) { return !as<dom::element>(node).get(*value); }

size_t sj_count(sj_node node) {
    dom::array array;
    if (!as<dom::element>(node).get(array)) return array.size();
    dom::object object;
    if (!as<dom::element>(node).get(object)) return object.size();
    return 0;
}

bool sj_begin(sj_node node, sj_node *at, sj_node *end) {
    dom::array array;
    if (!as<dom::element>(node).get(array)) {
        *at = node_of(array.begin());
        *end = node_of(array.end());
        return true;
    }
    dom::object object;
    if (!as<dom::element>(node).get(object)) {
        *at = node_of(object.begin());
        *end = node_of(object.end());
        return true;
    }
    return false;
}

void sj_next_value(sj_node *at, sj_node *value) {
    auto iterator = as<dom::array::iterator>(*at);
    *value = node_of(*iterator);
    *at = node_of(++iterator);
}

void sj_next_member(sj_node *at, const uint8_t **key, size_t *key_count, sj_node *value) {
    auto iterator = as<dom::object::iterator>(*at);
    auto name = iterator.key();
    *key = reinterpret_cast<const uint8_t *>(name.data());
    *key_count = name.size();
    *value = node_of(iterator.value());
    *at = node_of(++iterator);
}
