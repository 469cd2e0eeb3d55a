import Zones

/// A moment by its ISO 8601 text with an offset, so that no zone's data takes part.
func moment(_ text: String) throws -> Int64 { try ISO8601.moment(text) }

func civil(_ text: String) throws -> CivilTime { TimeZone.utc.local(try moment(text + "Z")).civil }

let hour: Int64 = 3_600_000
