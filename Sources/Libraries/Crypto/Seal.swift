internal import CCrypto

/// Keeps secrets at rest: what it seals only the same key opens, and only as it was (AES-256-GCM).
///
/// Sealed bytes are a version (1), a random nonce of 12 bytes, the text as long as it was, and a tag of 16 bytes.
package struct Seal: Sendable {
    private static let version: UInt8 = 1
    private static let nonceCount = 12
    private static let tagCount = 16
    private static let frameCount = 1 + nonceCount + tagCount

    private let key: [UInt8]

    /// A key of 32 bytes; nil for any other count.
    package init?(key: [UInt8]) {
        guard key.count == 32 else { return nil }
        self.key = key
    }

    /// A key made of a secret of at least 16 bytes that nobody can guess, another one for each purpose. Not for
    /// passwords. Nil for a shorter secret.
    package init?(secret: [UInt8], purpose: String) {
        guard secret.count >= 16 else { return nil }
        key = HMAC.sha256(key: secret, data: Array(purpose.utf8))
    }

    /// `context` is not stored: what was sealed for one place (an account, a row) cannot be opened at another.
    package func seal(_ plain: [UInt8], context: String = "") -> [UInt8] {
        let nonce = randomBytes(Self.nonceCount)
        let cipher = Cipher(key: key, nonce: nonce, encrypts: true)
        guard cipher.authenticate(Array(context.utf8)), let text = cipher.update(plain), cipher.finish(),
            let tag = cipher.tag(Self.tagCount)
        else { preconditionFailure("libcrypto has no memory or no AES-256-GCM") }
        return [Self.version] + nonce + text + tag
    }

    /// Throws when the bytes were not sealed with this key for this context, or are no longer what they were.
    package func open(_ sealed: [UInt8], context: String = "") throws(SealError) -> [UInt8] {
        guard sealed.count >= Self.frameCount, sealed[0] == Self.version else { throw SealError() }
        let nonce = Array(sealed[1...Self.nonceCount])
        let text = Array(sealed[(1 + Self.nonceCount)..<(sealed.count - Self.tagCount)])
        let cipher = Cipher(key: key, nonce: nonce, encrypts: false)
        guard cipher.expect(tag: Array(sealed.suffix(Self.tagCount))),
            cipher.authenticate(Array(context.utf8)),
            let plain = cipher.update(text), cipher.finish()
        else { throw SealError() }
        return plain
    }
}

extension Seal: CustomStringConvertible, CustomReflectable {
    /// Never the key.
    package var description: String { "seal(…)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Bytes that a seal does not open.
package struct SealError: Error, Equatable, CustomStringConvertible {
    package var description: String { "sealed with another key, for another place, or damaged" }
}

/// One run of AES-256-GCM. Each step answers false or nil when libcrypto refuses.
private struct Cipher: ~Copyable {
    private let handle = EVP_CIPHER_CTX_new()
    private let isReady: Bool

    init(key: [UInt8], nonce: [UInt8], encrypts: Bool) {
        isReady = EVP_CipherInit_ex(handle, EVP_aes_256_gcm(), nil, key, nonce, encrypts ? 1 : 0) == 1
    }

    deinit { EVP_CIPHER_CTX_free(handle) }

    /// Bytes that the tag vouches for but that are not in the text.
    func authenticate(_ bytes: [UInt8]) -> Bool {
        var written: Int32 = 0
        guard isReady else { return false }
        return bytes.isEmpty || EVP_CipherUpdate(handle, nil, &written, bytes, Int32(bytes.count)) == 1
    }

    func update(_ bytes: [UInt8]) -> [UInt8]? {
        guard isReady else { return nil }
        if bytes.isEmpty { return [] }
        var out = [UInt8](repeating: 0, count: bytes.count)
        var written: Int32 = 0
        guard EVP_CipherUpdate(handle, &out, &written, bytes, Int32(bytes.count)) == 1 else { return nil }
        return out
    }

    func finish() -> Bool {
        var rest: UInt8 = 0
        var written: Int32 = 0
        return isReady && EVP_CipherFinal_ex(handle, &rest, &written) == 1
    }

    func tag(_ count: Int) -> [UInt8]? {
        var tag = [UInt8](repeating: 0, count: count)
        return crypto_get_tag(handle, Int32(count), &tag) == 1 ? tag : nil
    }

    func expect(tag: [UInt8]) -> Bool {
        var tag = tag
        return isReady && crypto_set_tag(handle, Int32(tag.count), &tag) == 1
    }
}
