package import Chat

/// The one list of plugins that are linked in: to add one, write its file and a line here.
package enum PluginCatalog {
    package static let plugins: [String: any Plugin.Type] = [
        "last-seen": LastSeen.self
    ]
}
