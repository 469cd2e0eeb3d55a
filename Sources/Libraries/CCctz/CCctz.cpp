#include "CCctz.h"

#include <chrono>

#include <cctz/civil_time.h>
#include <cctz/time_zone.h>

struct CCctzZone {
    cctz::time_zone zone;
};

namespace {

using Moment = cctz::time_point<cctz::seconds>;

int64_t seconds(Moment moment) { return moment.time_since_epoch().count(); }

}  // namespace

CCctzZone *ccctz_open(const char *name) {
    cctz::time_zone zone;
    if (!cctz::load_time_zone(name, &zone)) return nullptr;
    return new CCctzZone{zone};
}

void ccctz_free(CCctzZone *zone) { delete zone; }

CCctzOffset ccctz_offset(const CCctzZone *zone, int64_t moment) {
    // cctz keeps what it loaded, abbreviations included, until the process ends.
    const auto found = zone->zone.lookup(Moment(cctz::seconds(moment)));
    return {found.offset, found.abbr};
}

CCctzMoments ccctz_moments(const CCctzZone *zone, int64_t civil) {
    using Lookup = cctz::time_zone::civil_lookup;
    const Lookup found = zone->zone.lookup(cctz::civil_second() + civil);
    const CCctzKind kind = found.kind == Lookup::SKIPPED    ? CCctzSkipped
                           : found.kind == Lookup::REPEATED ? CCctzRepeated
                                                            : CCctzUnique;
    return {kind, seconds(found.pre), seconds(found.trans), seconds(found.post)};
}
