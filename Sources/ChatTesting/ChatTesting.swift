/// For tests of steward itself and of plugins: `FakeChat`, `FakeChatService` and `ManualClock` come from here, too.
@_exported public import Rehearsal
