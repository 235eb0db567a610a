// The encoders of compressed answers, at the fastest level of each coding: the next levels make a body at most 3 % shorter, and take up to
// three times the CPU (decision 25).

import zlib, { constants } from 'node:zlib';

export type CompressionCoding = 'zstd' | 'br' | 'gzip';

/** The window of a stream: 128 KiB. With a larger one, each open stream may take a megabyte of memory. */
const STREAM_WINDOW_LOG = 17;

export type EncoderStream = zlib.Gzip | zlib.BrotliCompress | zlib.ZstdCompress;

interface Encoder {
  /** Encodes a whole body at once, on this thread. */
  encode(body: Buffer): Buffer;
  /** Creates a stream that flushes after each write: no part of an answer waits for the next part. */
  createStream(): EncoderStream;
}

const brotli = { [constants.BROTLI_PARAM_QUALITY]: 1 };
const zstd = { [constants.ZSTD_c_compressionLevel]: 1 };
const gzip = { level: 1 };

export const encoders: Readonly<Record<CompressionCoding, Encoder>> = {
  zstd: {
    encode: (body) => zlib.zstdCompressSync(body, { params: zstd }),
    createStream: () =>
      zlib.createZstdCompress({
        flush: constants.ZSTD_e_flush,
        params: { ...zstd, [constants.ZSTD_c_windowLog]: STREAM_WINDOW_LOG },
      }),
  },
  br: {
    encode: (body) =>
      zlib.brotliCompressSync(body, { params: { ...brotli, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }),
    createStream: () =>
      zlib.createBrotliCompress({
        flush: constants.BROTLI_OPERATION_FLUSH,
        params: { ...brotli, [constants.BROTLI_PARAM_LGWIN]: STREAM_WINDOW_LOG },
      }),
  },
  gzip: {
    encode: (body) => zlib.gzipSync(body, gzip),
    createStream: () => zlib.createGzip({ ...gzip, flush: constants.Z_SYNC_FLUSH }),
  },
};
