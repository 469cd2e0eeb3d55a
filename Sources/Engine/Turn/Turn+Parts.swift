package import Chat

extension Turn {
    /// The account whose event it is.
    package struct Account: Sendable {
        package var name: String
        package var own: UserID?
        package var abilities: Abilities

        package init(name: String, own: UserID?, abilities: Abilities) {
            self.name = name
            self.own = own
            self.abilities = abilities
        }
    }

    package struct Limits: Sendable {
        /// An event gets so many answers.
        package var answersPerEvent = 1
        /// An older event gets no answer; guards and observers still see it.
        package var staleAfter = Duration.seconds(600)
        /// A handler that takes longer is logged and counted.
        package var handlerTime = Duration.milliseconds(100)
        /// Nil: no guard.
        package var loops: LoopGuard.Limits? = LoopGuard.Limits()
        package var ceilings = Ceilings()
        /// The name of the channel where staff are told of ceilings, if there is such a channel.
        package var reportTo: String? = "staff"

        package init() {}
    }

    package struct Failure: Sendable, Equatable {
        package var handler: String
        package var why: String
    }
}
