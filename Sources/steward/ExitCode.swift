/// How the program ends; the numbers are part of what it promises.
enum ExitCode: Int32 {
    case fine = 0
    /// Something was found, or the work could not be done.
    case findings = 1
    /// The command line was not understood.
    case usage = 2
    /// `config.yaml` or a bot's file is wrong, or the store damaged or of a later version; starting again cannot help (EX_CONFIG of sysexits.h).
    case configuration = 78
}
