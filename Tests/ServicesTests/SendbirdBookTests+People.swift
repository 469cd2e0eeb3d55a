import Chat
import Gzip
import JSON
import Testing
import WebSocket

@testable import Services

/// Who comes and goes, who may write, and who is typing.
extension SendbirdCommands {
    func system(
        _ category: Int, _ data: String, at: Int64 = 1_800_000_000_100, in url: String = "group",
        more: String = ""
    )
        -> String
    {
        #"SYEV{"cat":\#(category),"channel_url":"\#(url)","ts":\#(at),"data":\#(data)\#(more)}"# + "\n"
    }

    @Test func `joining is told for one user or a list of them, and says who invited`() throws {
        var book = book()
        read(
            system(
                10000,
                #"{"users":[{"user_id":"cat","nickname":"Cat","inviter":{"user_id":"ana"}},{"user_id":"dan","nickname":"Dan"}],"joined_member_count":5}"#
            ), into: &book)
        read(
            system(10102, #"{"user_id":"eve","nickname":"Eve","participant_count":4}"#, in: "room"),
            into: &book)
        let events = take(&book)
        #expect(events.map(\.short) == ["group joined Cat", "group joined Dan", "room joined Eve"])
        #expect(events[0].by?.text == "ana")
        #expect(events[1].by == nil)
        #expect(events[0].channel?.memberCount == 5)
        #expect(events[2].channel?.memberCount == 4)
    }

    @Test func `a ban is one event though leaving may be told beside`() throws {
        var book = book()
        let ben = #"{"user_id":"ben","nickname":"ben","end_at":-1,"description":"spam"}"#
        read(system(10601, ben) + system(10001, ben, at: 1_800_000_000_101), into: &book)
        let events = take(&book)
        #expect(events.map(\.name) == [.memberBanned])
        // Once they are back their leaving is news again.
        read(system(10000, ben) + system(10001, ben, at: 1_800_000_000_900), into: &book)
        #expect(take(&book).map(\.name) == [.memberJoined, .memberLeft])
    }

    @Test(arguments: [10001, 10601])
    func `where we are taken out we are out`(_ category: Int) throws {
        var book = book()
        read(system(category, #"{"user_id":"bot","nickname":"bot"}"#), into: &book)
        #expect(take(&book).count == 1)
        #expect(book.rooms["group"] == nil)
        expectNews([.left("group")], in: &book)
        // Nothing of it concerns us any more, not even as a channel to be looked up.
        read(system(10001, #"{"user_id":"ana"}"#), into: &book)
        expectNews([], in: &book)
    }

    @Test func `invitations of others are told, ours is to be accepted`() throws {
        var book = book()
        read(
            system(
                10020,
                #"{"inviter":{"user_id":"ana"},"invitees":[{"user_id":"cat","nickname":"Cat"},{"user_id":"bot"}],"invited_at":1}"#
            ), into: &book)
        let events = take(&book)
        #expect(events.map(\.name) == [.memberInvited])
        #expect(events[0].by?.text == "ana")
        expectNews([.invited("group")], in: &book)
    }

    @Test func `a mute that runs out is over though nobody says so`() throws {
        var book = book()
        read(
            system(
                10201,
                #"{"user_id":"ana","nickname":"ana","end_at":1800000005100,"remaining_duration":5000,"description":"x"}"#
            ), into: &book)
        #expect(take(&book).map(\.name) == [.memberMuted])
        book.endTimes(at: Self.start + .seconds(4))
        #expect(take(&book).isEmpty)
        book.endTimes(at: Self.start + .seconds(5))
        #expect(take(&book).map(\.name) == [.memberUpdated])
        // One without an end, and one that is lifted.
        read(system(10201, #"{"user_id":"ana","end_at":-1,"remaining_duration":-1}"#), into: &book)
        read(
            system(10201, #"{"user_id":"ben","remaining_duration":1000}"#)
                + system(10200, #"{"user_id":"ben"}"#), into: &book)
        #expect(take(&book).map(\.name) == [.memberMuted, .memberMuted, .memberUpdated])
        book.endTimes(at: Self.start + .seconds(500))
        #expect(take(&book).isEmpty)
    }

    @Test func `typing ends by itself after ten seconds, and is told once`() throws {
        var book = book()
        let typing = system(10900, #"{"user_id":"ana","nickname":"ana"}"#)
        #expect(story(typing + typing, in: &book) == ["group typing ana"])
        book.now = Self.start + .seconds(8)
        read(typing, into: &book)
        book.endTimes(at: Self.start + .seconds(17))
        #expect(take(&book).isEmpty)
        book.endTimes(at: Self.start + .seconds(18))
        #expect(take(&book).map(\.short) == ["group typed ana"])
        book.now = Self.start + .seconds(20)
        #expect(
            story(typing + system(10901, #"{"user_id":"ana","nickname":"ana"}"#), in: &book) == [
                "group typing ana", "group typed ana",
            ])
        book.endTimes(at: Self.start + .seconds(60))
        #expect(take(&book).isEmpty)
    }

    @Test func `freezing, operators, properties and the end of a channel`() throws {
        var book = book()
        read(
            system(10701, #"{"freeze":true}"#) + system(10700, #"{"freeze":false}"#, at: 1_800_000_000_200),
            into: &book)
        #expect(take(&book).map(\.name) == [.channelFrozen, .channelUpdated])
        read(system(10002, #"{"operators":[{"user_id":"ana","nickname":"ana"}]}"#), into: &book)
        #expect(take(&book).first?.member?.roles == ["operator"])
        read(message(101, in: "group"), into: &book)
        #expect(take(&book).first?.member?.roles == ["operator"])
        read(system(11000, "{}", at: 1_800_000_000_300), into: &book)
        expectNews([.changed("group", at: Timestamp(milliseconds: 1_800_000_000_300))], in: &book)
        read(system(12000, "{}"), into: &book)
        #expect(take(&book).map(\.name) == [.channelDeleted])
        #expect(book.rooms["group"] == nil)
    }
}
