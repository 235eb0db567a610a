// The encoders of compressed answers. They use the fastest level of each coding, because the next levels make a body at most 3 % shorter,
// and take up to three times the CPU (decision 25).

import zlib, { constants } from 'node:zlib';

export type CompressionCoding = 'zstd' | 'br' | 'gzip';

/** The window of a stream: 128 KiB. With a larger window, each open stream may take a megabyte of memory. */
const STREAM_WINDOW_LOG = 17;

export type EncoderStream = zlib.Gzip | zlib.BrotliCompress | zlib.ZstdCompress;

interface Encoder {
  /** Encodes a whole body at once, on this thread. */
  encode(body: Buffer): Buffer;
  /** Creates a stream that flushes after each write, so that no part of an answer waits for the next part. */
  createStream(): EncoderStream;
}

const BROTLI_OPTIONS = { [constants.BROTLI_PARAM_QUALITY]: 1 };
const ZSTD_OPTIONS = { [constants.ZSTD_c_compressionLevel]: 1 };
const GZIP_OPTIONS = { level: 1 };

export const ENCODERS: Readonly<Record<CompressionCoding, Encoder>> = {
  zstd: {
    encode: (body) => zlib.zstdCompressSync(body, { params: ZSTD_OPTIONS }),
    createStream: () =>
      zlib.createZstdCompress({
        flush: constants.ZSTD_e_flush,
        params: { ...ZSTD_OPTIONS, [constants.ZSTD_c_windowLog]: STREAM_WINDOW_LOG },
      }),
  },
  br: {
    encode: (body) =>
      zlib.brotliCompressSync(body, { params: { ...BROTLI_OPTIONS, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }),
    createStream: () =>
      zlib.createBrotliCompress({
        flush: constants.BROTLI_OPERATION_FLUSH,
        params: { ...BROTLI_OPTIONS, [constants.BROTLI_PARAM_LGWIN]: STREAM_WINDOW_LOG },
      }),
  },
  gzip: {
    encode: (body) => zlib.gzipSync(body, GZIP_OPTIONS),
    createStream: () => zlib.createGzip({ ...GZIP_OPTIONS, flush: constants.Z_SYNC_FLUSH }),
  },
};
