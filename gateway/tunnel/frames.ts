// Finds the boundaries of WebSocket frames in a byte stream (RFC 6455 section 5.2). Reads only frame headers, and skips payloads.

interface Frames {
  /** Call it with every byte that is sent, in order. */
  see(bytes: Buffer): void;
  /** Returns true if the last byte ended a frame, or if no byte was seen yet. */
  atBoundary(): boolean;
}

/** A Close frame of a server with status 1001, "going away" (RFC 6455 section 7.4.1). */
export const GOING_AWAY = Buffer.from([0x88, 0x02, 0x03, 0xe9]);

/** A Close frame of a server with status 1008, "policy violation": the caller has lost access. */
export const NOT_ALLOWED = Buffer.from([0x88, 0x02, 0x03, 0xf0]);

const HEADER_BYTES_MAX = 14;

export function createFrames(): Frames {
  const header = Buffer.alloc(HEADER_BYTES_MAX);
  let headerBytes = 0;
  /** Payload bytes of the current frame that are still missing. */
  let contentLeft = 0;

  function see(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      if (contentLeft > 0) {
        const passed = Math.min(contentLeft, bytes.length - at);
        contentLeft -= passed;
        at += passed;
        continue;
      }
      header[headerBytes] = bytes[at] as number;
      headerBytes += 1;
      at += 1;
      if (headerBytes < 2 || headerBytes < lengthOfHeader(header)) continue;
      contentLeft = lengthOfContent(header);
      headerBytes = 0;
    }
  }

  return { see, atBoundary: () => headerBytes === 0 && contentLeft === 0 };
}

function lengthOfHeader(header: Buffer): number {
  const second = header[1] as number;
  const size = second & 0x7f;
  return 2 + (size === 127 ? 8 : size === 126 ? 2 : 0) + (second & 0x80 ? 4 : 0);
}

function lengthOfContent(header: Buffer): number {
  const size = (header[1] as number) & 0x7f;
  if (size < 126) return size;
  return size === 126 ? header.readUInt16BE(2) : Number(header.readBigUInt64BE(2));
}
