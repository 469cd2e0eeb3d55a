internal import CZlib

/// Bytes made smaller, in the format of gzip (RFC 1952).
package enum Gzip {
    /// Why bytes could not be read back.
    package enum Failure: Error, Equatable {
        /// No gzip, or damaged.
        case damaged
        /// Ends before its end.
        case cut
        /// Would be more than was allowed.
        case tooLarge
    }

    package static func compress(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        let begun = zlib_begin_gzip(&stream)
        precondition(begun == Z_OK, "zlib has no memory or another version")
        defer { deflateEnd(&stream) }
        var input = bytes
        return input.withUnsafeMutableBufferPointer { input in
            let room = Int(deflateBound(&stream, UInt(input.count)))
            return [UInt8](unsafeUninitializedCapacity: room) { out, count in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = out.baseAddress
                stream.avail_out = UInt32(out.count)
                let done = deflate(&stream, Z_FINISH)
                precondition(done == Z_STREAM_END, "the room for a gzip stream was reckoned wrong")
                count = out.count - Int(stream.avail_out)
            }
        }
    }

    /// The bytes that were compressed, at most `limit` of them, so that a small message cannot fill the memory. What
    /// follows the stream's end is damage.
    package static func decompress(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
        var stream = z_stream()
        guard zlib_begin_gunzip(&stream) == Z_OK else { throw .damaged }
        defer { inflateEnd(&stream) }
        var (input, result) = (bytes, [UInt8]())
        let status = input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            var status = Z_OK
            while status == Z_OK, result.count <= limit {
                let piece = [UInt8](unsafeUninitializedCapacity: 64 << 10) { out, count in
                    stream.next_out = out.baseAddress
                    stream.avail_out = UInt32(out.count)
                    status = inflate(&stream, Z_NO_FLUSH)
                    count = out.count - Int(stream.avail_out)
                }
                result += piece
            }
            return status
        }
        guard result.count <= limit else { throw .tooLarge }
        switch status {
        case Z_STREAM_END: break
        case Z_BUF_ERROR: throw .cut
        default: throw .damaged
        }
        guard stream.avail_in == 0 else { throw .damaged }
        return result
    }
}
