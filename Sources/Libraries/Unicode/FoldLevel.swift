/// How much of a difference between two texts is no difference to a pattern.
package enum FoldLevel: String, Sendable, CaseIterable {
    /// Only canonical equivalence: a letter and its accent may be one scalar or two.
    case exact
    /// Case, width and other compatibility forms, white space, invisible characters and the shape of apostrophes and
    /// hyphens make no difference.
    case plain
    /// As `plain`, and accents, stretched letters, digits for letters and look-alike letters make none.
    case loose
    /// As `loose`, and single letters that something parts are a word: "s p a m", "s.p.a.m".
    case squeezed

    /// Whether it sees what `loose` sees.
    package var isLoose: Bool { self == .loose || self == .squeezed }
}
