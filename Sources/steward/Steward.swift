@main
enum Steward {
    static func main() {}
}
