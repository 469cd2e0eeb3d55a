/// What the service is called and what its tokens are signed with.
package struct ServiceNames: Sendable, Equatable {
    package let account: SID
    package let service: SID
    package let messagingService: SID
    package let key: SID
    package let secret: String

    package init(account: SID, service: SID, messagingService: SID, key: SID, secret: String) {
        self.account = account
        self.service = service
        self.messagingService = messagingService
        self.key = key
        self.secret = secret
    }

    /// Names that no other world has.
    package static func fresh() -> ServiceNames {
        ServiceNames(
            account: .fresh(.account), service: .fresh(.service), messagingService: .fresh(.messagingService),
            key: .fresh(.key), secret: String(SID.fresh(.key).text.dropFirst(2)))
    }
}
