internal import Glibc

/// How long this thread has computed: what others do on the machine meanwhile does not count.
package enum ThreadTime {
    package static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
