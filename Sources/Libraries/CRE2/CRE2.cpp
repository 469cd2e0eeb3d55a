#include "CRE2.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <re2/filtered_re2.h>
#include <re2/re2.h>
#include <re2/set.h>

struct CRE2 {
    re2::RE2 regex;
};

struct CRE2Filter {
    re2::FilteredRE2 filter;
    std::vector<std::string> atoms;

    explicit CRE2Filter(int min_atom) : filter(min_atom) {}
};

namespace {

re2::RE2::Options options(int64_t max_memory) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(max_memory);
    return options;
}

re2::StringPiece piece(const uint8_t *text, size_t length) {
    return re2::StringPiece(reinterpret_cast<const char *>(text), length);
}

}  // namespace

CRE2 *cre2_compile(const uint8_t *pattern, size_t length, int64_t max_memory, CRE2Error *error) {
    const re2::StringPiece text = piece(pattern, length);
    auto *compiled = new CRE2{re2::RE2(text, options(max_memory))};
    if (compiled->regex.ok()) return compiled;
    error->too_large = compiled->regex.error_code() == re2::RE2::ErrorPatternTooLarge;
    // RE2 names the faulty part, not its place. The last part that reads so is where it stopped.
    const std::string &part = compiled->regex.error_arg();
    const size_t at = part.empty() ? std::string::npos : text.as_string().rfind(part);
    error->offset = at == std::string::npos ? -1 : int32_t(at);
    std::strncpy(error->message, compiled->regex.error().c_str(), sizeof error->message - 1);
    error->message[sizeof error->message - 1] = 0;
    delete compiled;
    return nullptr;
}

void cre2_free(CRE2 *regex) { delete regex; }

int32_t cre2_group_count(const CRE2 *regex) { return regex->regex.NumberOfCapturingGroups(); }

int32_t cre2_program_size(const CRE2 *regex) { return regex->regex.ProgramSize(); }

const char *cre2_group_name(const CRE2 *regex, int32_t group) {
    const std::map<int, std::string> &names = regex->regex.CapturingGroupNames();
    const auto found = names.find(group);
    return found == names.end() ? nullptr : found->second.c_str();
}

bool cre2_match(const CRE2 *regex, const uint8_t *text, size_t length, CRE2Range *ranges, int32_t count) {
    const re2::StringPiece subject = piece(text, length);
    if (count == 0) return regex->regex.Match(subject, 0, length, re2::RE2::UNANCHORED, nullptr, 0);
    constexpr int32_t few = 8;
    re2::StringPiece local[few];
    std::vector<re2::StringPiece> many;
    re2::StringPiece *groups = local;
    if (count > few) {
        many.resize(size_t(count));
        groups = many.data();
    }
    if (!regex->regex.Match(subject, 0, length, re2::RE2::UNANCHORED, groups, count)) return false;
    for (int32_t i = 0; i < count; ++i) {
        if (groups[i].data() == nullptr) {
            ranges[i] = {-1, -1};
        } else {
            const auto start = int32_t(groups[i].data() - subject.data());
            ranges[i] = {start, start + int32_t(groups[i].size())};
        }
    }
    return true;
}

CRE2Filter *cre2_filter_open(int32_t min_atom) { return new CRE2Filter(min_atom); }

void cre2_filter_free(CRE2Filter *filter) { delete filter; }

bool cre2_filter_add(CRE2Filter *filter, const uint8_t *pattern, size_t length, int64_t max_memory) {
    int id;
    return filter->filter.Add(piece(pattern, length), options(max_memory), &id) == re2::RE2::NoError;
}

int32_t cre2_filter_compile(CRE2Filter *filter) {
    filter->filter.Compile(&filter->atoms);
    return int32_t(filter->atoms.size());
}

const uint8_t *cre2_filter_atom(const CRE2Filter *filter, int32_t atom, size_t *length) {
    const std::string &text = filter->atoms[size_t(atom)];
    *length = text.size();
    return reinterpret_cast<const uint8_t *>(text.data());
}

int32_t cre2_filter_candidates(const CRE2Filter *filter, const int32_t *atoms, int32_t count, int32_t *out) {
    std::vector<int> candidates;
    filter->filter.AllPotentials(std::vector<int>(atoms, atoms + count), &candidates);
    std::sort(candidates.begin(), candidates.end());
    std::copy(candidates.begin(), candidates.end(), out);
    return int32_t(candidates.size());
}

struct CRE2Set {
    std::unique_ptr<re2::RE2::Set> set;
};

CRE2Set *cre2_set_open(int64_t max_memory) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(max_memory);
    return new CRE2Set{std::make_unique<re2::RE2::Set>(options, re2::RE2::UNANCHORED)};
}

void cre2_set_free(CRE2Set *set) { delete set; }

bool cre2_set_add(CRE2Set *set, const uint8_t *pattern, size_t length) {
    return set->set->Add(re2::StringPiece(reinterpret_cast<const char *>(pattern), length), nullptr) >= 0;
}

bool cre2_set_compile(CRE2Set *set) { return set->set->Compile(); }

int32_t cre2_set_match(const CRE2Set *set, const uint8_t *text, size_t length) {
    std::vector<int> found;
    re2::RE2::Set::ErrorInfo error;
    const re2::StringPiece subject(reinterpret_cast<const char *>(text), length);
    if (!set->set->Match(subject, &found, &error))
        return error.kind == re2::RE2::Set::kNoError ? 0 : -1;
    return int32_t(found.size());
}
