#!/usr/bin/env python3
"""What clients that others wrote do at the built-in chat server; each line that it writes is one thing that happened."""
import sys
import threading


def say(*words):
    print(*words, flush=True)


def platform(address, token):
    """Users, channels and messages by the Platform API's own client."""
    import sendbird_platform_sdk
    from sendbird_platform_sdk.api import group_channel_api, message_api, moderation_api, open_channel_api, user_api
    from sendbird_platform_sdk.model.create_a_group_channel_request import CreateAGroupChannelRequest
    from sendbird_platform_sdk.model.create_a_user_request import CreateAUserRequest
    from sendbird_platform_sdk.model.create_an_open_channel_request import CreateAnOpenChannelRequest
    from sendbird_platform_sdk.model.create_user_token_request import CreateUserTokenRequest
    from sendbird_platform_sdk.model.freeze_a_group_channel_request import FreezeAGroupChannelRequest
    from sendbird_platform_sdk.model.send_a_message_request import SendAMessageRequest
    from sendbird_platform_sdk.model.sendbird_user import SendbirdUser

    with sendbird_platform_sdk.ApiClient(sendbird_platform_sdk.Configuration(host=address)) as client:
        # Answers are taken as they come: the client's models are narrower than what the service says.
        more = {"api_token": token, "_check_return_type": False}
        users, groups = user_api.UserApi(client), group_channel_api.GroupChannelApi(client)
        for name in ("ann", "bob"):
            made = users.create_a_user(
                create_a_user_request=CreateAUserRequest(
                    user_id=name, nickname=name.title(), profile_url="", issue_access_token=True), **more)
            say("user", made["user_id"], made["nickname"], made["access_token"])
        session = users.create_user_token(
            "ann", create_user_token_request=CreateUserTokenRequest(expires_at=4_000_000_000_000), **more)
        say("session", bool(session["token"]))
        channel = groups.create_a_group_channel(
            create_a_group_channel_request=CreateAGroupChannelRequest(
                users=[SendbirdUser(user_id="ann"), SendbirdUser(user_id="bob")],
                user_ids=["ann", "bob"], name="Talk", custom_type="group"), **more)
        url = channel["channel_url"]
        say("channel", url, channel["member_count"])
        say("channels", len(groups.list_channels(**more)["channels"]))
        say("members", *[member["user_id"] for member in groups.list_members(url, **more)["members"]])
        sent = message_api.MessageApi(client).send_a_message(
            "group_channels", url,
            send_a_message_request=SendAMessageRequest(
                message_type="MESG", user_id="bob", message="hello", data="{}"), **more)
        say("sent", sent["message"], sent["user"]["user_id"])
        got = message_api.MessageApi(client).get_a_message("group_channels", url, sent["message_id"], **more)
        say("got", got["message"], got["message_id"] == sent["message_id"])
        frozen = moderation_api.ModerationApi(client).freeze_a_group_channel(
            url, freeze_a_group_channel_request=FreezeAGroupChannelRequest(freeze=True), **more)
        say("frozen", frozen["freeze"])
        moderation_api.ModerationApi(client).freeze_a_group_channel(
            url, freeze_a_group_channel_request=FreezeAGroupChannelRequest(freeze=False), **more)
        opened = open_channel_api.OpenChannelApi(client).create_an_open_channel(
            create_an_open_channel_request=CreateAnOpenChannelRequest(channel_url="room", name="Room"), **more)
        say("open", opened["channel_url"], opened["participant_count"])
        try:
            users.view_a_user("nobody", **more)
        except sendbird_platform_sdk.ApiException as error:
            say("refused", error.status, "400201" in error.body)


def chat(address, user, token, channel):
    """Somebody who is in a channel, says something and answers."""
    import Reddit_ChatBot_Python._api.tools as tools
    import Reddit_ChatBot_Python._ws_client as sockets
    from Reddit_ChatBot_Python import ChatBot
    from Reddit_ChatBot_Python.reddit_auth import _RedditAuthBase

    # It knows one server only; that is to be another.
    original = sockets.get_ws_url
    sockets.get_ws_url = lambda user_id, access_token: original(user_id, access_token).replace(
        "wss://sendbirdproxyk8s.chat.redditmedia.com", address.replace("http", "ws", 1))
    tools.SB_PROXY_CHATMEDIA = address

    class Known(_RedditAuthBase):
        def authenticate(self):
            self.user_id = user
            return {"sb_access_token": token, "user_id": user}

    bot = ChatBot(Known(), store_session=False, print_chat=False)

    @bot.event.on_ready()
    def ready(_):
        say("ready", bot.get_own_name())
        for url, name in bot.get_chatroom_name_id_pairs().items():
            say("channel", url, name)
        bot.send_message("hello from afar", channel)

    @bot.event.on_message()
    def message(frame):
        say("message", frame.user.name, frame.message)
        if frame.user.name != bot.get_own_name():
            bot.send_typing_indicator(channel)
            bot.send_message("you said: " + frame.message, channel)

    @bot.event.on_message_deleted()
    def deleted(frame):
        say("deleted", frame.msg_id)

    @bot.event.on_user_joined()
    def joined(frame):
        say("joined", frame.data.users[0].nickname)

    def wait():
        sys.stdin.read()
        bot.close()

    threading.Thread(target=wait, daemon=True).start()
    bot.run_4ever(auto_reconnect=False)


if __name__ == "__main__":
    if sys.argv[3] == "platform":
        platform(sys.argv[1], sys.argv[2])
    else:
        chat(sys.argv[1], *sys.argv[4:7])
