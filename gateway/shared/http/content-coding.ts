// Compresses a resource once with each content coding, and chooses the form that a client accepts.

import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

export interface EncodedBody {
  readonly body: Buffer;
  /** The compressed form; undefined if compression saves less than 10 %. */
  readonly gzip: Buffer | undefined;
  readonly br: Buffer | undefined;
}

/** Up to this size, the densest Brotli takes at most a tenth of a second. Larger resources get a Brotli that takes milliseconds. */
const DENSEST_BYTES_MAX = 65_536;
const WORTHWHILE = 0.9;

const toGzip = promisify(gzip);
const toBrotli = promisify(brotliCompress);

export async function encodeBody(body: Buffer): Promise<EncodedBody> {
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

/** Returns the form to send to a client, and its coding; undefined to send it uncompressed. */
export function formFor(
  { body, gzip: gzipped, br }: EncodedBody,
  acceptEncoding: string | undefined,
): { readonly coding: 'br' | 'gzip' | undefined; readonly bytes: Buffer } {
  const accepted = acceptedCodings(acceptEncoding);
  const [ofBrotli, ofGzip] = [weightOf(accepted, 'br'), weightOf(accepted, 'gzip')];
  if (br !== undefined && ofBrotli > 0 && ofBrotli >= ofGzip) return { coding: 'br', bytes: br };
  if (gzipped !== undefined && ofGzip > 0) return { coding: 'gzip', bytes: gzipped };
  return { coding: undefined, bytes: body };
}

/** A qvalue: at most 1, with up to three decimals (RFC 9110 section 12.4.2). */
const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** Former names that mean the same (RFC 9110 section 8.4.1). */
const ALIASES: Readonly<Record<string, string>> = { 'x-gzip': 'gzip', 'x-compress': 'compress' };

/**
 * Parses Accept-Encoding. Returns a weight from 0 to 1 for each coding, in the order of the header. A malformed weight is read as 0, which
 * means not acceptable.
 *
 * @param header all lines, joined by comma; undefined if there is none
 */
export function acceptedCodings(header: string | undefined): Map<string, number> {
  const weights = new Map<string, number>();
  for (const element of (header ?? '').toLowerCase().split(',')) {
    const [coding = '', ...parameters] = element.split(';').map((part) => part.trim());
    if (coding !== '') weights.set(ALIASES[coding] ?? coding, weightIn(parameters));
  }
  return weights;
}

function weightIn(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  if (weight === undefined) return 1;
  return WEIGHT.test(weight) ? Number(weight) : 0;
}

/** Returns the weight of a coding other than `identity`; 0 if it is not acceptable. */
export function weightOf(weights: ReadonlyMap<string, number>, coding: string): number {
  return weights.get(coding) ?? weights.get('*') ?? 0;
}

/** Whether the client excludes an answer without a coding. */
export function refusesIdentity(weights: ReadonlyMap<string, number>): boolean {
  return (weights.get('identity') ?? weights.get('*')) === 0;
}
