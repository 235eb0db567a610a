// Content codings for tests: each one applied and removed, and bodies that grow to a gigabyte when they are decoded.

import zlib, { constants } from 'node:zlib';

export const codings = ['gzip', 'deflate', 'br', 'zstd'] as const;
type TestCoding = (typeof codings)[number];

export function encode(body: string | Buffer, coding: TestCoding): Buffer {
  if (coding === 'gzip') return zlib.gzipSync(body);
  if (coding === 'deflate') return zlib.deflateSync(body);
  return coding === 'br' ? zlib.brotliCompressSync(body) : zlib.zstdCompressSync(body);
}

export function decode(body: Buffer, coding: string | undefined): Buffer {
  if (coding === 'gzip') return zlib.gunzipSync(body);
  if (coding === 'deflate') return zlib.inflateSync(body);
  if (coding === 'br') return zlib.brotliDecompressSync(body);
  return coding === 'zstd' ? zlib.zstdDecompressSync(body) : body;
}

const BLOCK = Buffer.alloc(16 * 1_048_576);
const BLOCKS = 64;

/**
 * Returns a gigabyte of zeros, compressed. A compressed block is repeated: the checksum is wrong, but a bounded decoder does not reach it.
 */
export function bomb(coding: 'gzip' | 'zstd'): Buffer {
  if (coding === 'zstd') return Buffer.concat(Array(BLOCKS).fill(zlib.zstdCompressSync(BLOCK)));
  const block = zlib.deflateRawSync(BLOCK, { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  return Buffer.concat([Buffer.from('1f8b08000000000000ff', 'hex'), ...Array(BLOCKS).fill(block)]);
}
