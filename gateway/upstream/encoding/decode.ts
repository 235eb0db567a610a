// Decodes the body of an answer for checks and rules. The decoded body is never passed on. Decoding ends as soon as the output exceeds its
// limit, because a small body could otherwise take much memory or time.

import zlib, { constants } from 'node:zlib';
import type { AnswerHeaders } from '../../http1/client/wire.ts';

/** Why a body was not decoded: it is too long, or it does not have the coding that its Content-Encoding names. */
export type DecodingFault = 'too large' | 'invalid';

type Decoder = (body: Buffer, outputLimit: number) => Buffer;

/** The largest window of a content coding, 8 MiB (RFC 9659). */
const ZSTD_WINDOW_LOG_MAX = 23;
const ZLIB_METHOD_DEFLATE = 8;

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: (body, maxOutputLength) => zlib.gunzipSync(body, { maxOutputLength }),
  'x-gzip': (body, maxOutputLength) => zlib.gunzipSync(body, { maxOutputLength }),
  // Some servers send `deflate` without the zlib header (RFC 9110 section 8.4.1.2).
  deflate: (body, maxOutputLength) =>
    ((body[0] ?? 0) & 0x0f) === ZLIB_METHOD_DEFLATE
      ? zlib.inflateSync(body, { maxOutputLength })
      : zlib.inflateRawSync(body, { maxOutputLength }),
  br: (body, maxOutputLength) => zlib.brotliDecompressSync(body, { maxOutputLength }),
  zstd: (body, maxOutputLength) =>
    zlib.zstdDecompressSync(body, {
      maxOutputLength,
      params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX },
    }),
};

/** Returns the content coding of an answer in lower case; empty if it has none. Several codings are returned as one text. */
export function codingOf(headers: AnswerHeaders): string {
  const given = headers['content-encoding'];
  if (given === undefined) return '';
  const coding = String(given).trim().toLowerCase();
  return coding === 'identity' ? '' : coding;
}

/** Whether `decodeBody` knows the coding. */
export function isDecodable(coding: string): boolean {
  return Object.hasOwn(DECODERS, coding);
}

/**
 * Returns the body without its coding, or the reason why it cannot be decoded. An empty body has no coding.
 *
 * @param coding a known coding, or empty
 * @param bytesMax maximum length of the result
 */
export function decodeBody(body: Buffer, coding: string, bytesMax: number): Buffer | DecodingFault {
  const decode = DECODERS[coding];
  if (decode === undefined || body.length === 0) return body;
  try {
    return decode(body, bytesMax);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : 'invalid';
  }
}
