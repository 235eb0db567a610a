// The forms in which a resource is sent: as it is, as gzip, and as Brotli. They are made once, so that an answer costs no compression.

import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { acceptedCodings, weightOf } from './accept-encoding.ts';

export interface Encoded {
  readonly body: Buffer;
  /** Undefined if compression saves less than 10 %. */
  readonly gzip: Buffer | undefined;
  readonly br: Buffer | undefined;
}

/** Up to here the densest Brotli takes a tenth of a second at most; what is larger gets one that takes milliseconds. */
const DENSEST_BYTES_MAX = 65_536;
const WORTHWHILE = 0.9;

const toGzip = promisify(gzip);
const toBrotli = promisify(brotliCompress);

export async function encoded(body: Buffer): Promise<Encoded> {
  const quality = body.length <= DENSEST_BYTES_MAX ? constants.BROTLI_MAX_QUALITY : 5;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
  };
  const [gzipped, br] = await Promise.all([
    toGzip(body, { level: constants.Z_BEST_COMPRESSION }),
    toBrotli(body, { params }),
  ]);
  const worthwhile = (form: Buffer) => (form.length < body.length * WORTHWHILE ? form : undefined);
  return { body, gzip: worthwhile(gzipped), br: worthwhile(br) };
}

/** Returns the form to send to a client, and its coding; undefined to send it as it is. */
export function formFor(
  { body, gzip: gzipped, br }: Encoded,
  acceptEncoding: string | undefined,
): { readonly coding: 'br' | 'gzip' | undefined; readonly bytes: Buffer } {
  const accepted = acceptedCodings(acceptEncoding);
  const [ofBrotli, ofGzip] = [weightOf(accepted, 'br'), weightOf(accepted, 'gzip')];
  if (br !== undefined && ofBrotli > 0 && ofBrotli >= ofGzip) return { coding: 'br', bytes: br };
  if (gzipped !== undefined && ofGzip > 0) return { coding: 'gzip', bytes: gzipped };
  return { coding: undefined, bytes: body };
}
