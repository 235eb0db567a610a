// Decides for each answer of one upstream whether the gateway compresses it, and changes its headers accordingly. Prepared once per
// configuration, for upstreams with `compression`.

import type { Forwardable } from '../../exchange/exchange.ts';
import type { AnswerHeaders } from '../../http1/client/wire.ts';
import { acceptedCodings, refusesIdentity, weightOf } from '../../shared/http/content-coding.ts';
import { joinedValueOf } from '../headers/answer-headers.ts';
import { codingOf } from './decode.ts';
import type { CompressionCoding } from './encoders.ts';

export interface CompressionRules {
  /** The codings, in the order of preference. */
  readonly codings: readonly CompressionCoding[];
  /** Shorter answers stay as they are. */
  readonly bytesMin: number;
}

/** The forms of an answer that depends on Accept-Encoding. */
interface AnswerForm {
  /** Headers for the answer as it came. */
  readonly headers: AnswerHeaders;
  /** The compressed form; undefined if the answer is not compressed. */
  readonly compressed: CompressedForm | undefined;
}

export interface CompressedForm {
  readonly coding: CompressionCoding;
  readonly headers: AnswerHeaders;
  /** A shorter body stays as it came. */
  readonly bytesMin: number;
}

export interface Compression {
  /**
   * Returns the forms of an answer; undefined if the answer is the same for every client.
   *
   * @param length of the body, -1 if the upstream did not announce it
   */
  formOf(
    asked: Pick<Forwardable, 'method' | 'headers' | 'recording'>,
    status: number,
    headers: AnswerHeaders,
    length: number,
  ): AnswerForm | undefined;
}

/**
 * Statuses whose answers are not compressed. 204 and 205 have no body. 206 contains a part of a body, and its range counts the bytes of the
 * body as the service sent it (RFC 9110 section 14).
 */
const UNFIT_STATUSES = new Set([204, 205, 206]);
/** Fields that describe the exact bytes of the service. An answer with one of them is not compressed, because the field would be wrong. */
const HEADERS_ABOUT_BYTES = ['content-range', 'content-digest', 'repr-digest', 'digest', 'content-md5', 'signature'];
const COMPRESSIBLE =
  /^(?:text\/(?!event-stream)|application\/(?:json|xml|javascript|ecmascript|yaml|x-yaml|graphql|jsonl|ndjson|x-ndjson|x-jsonlines|json-seq|toml|rtf|sql)(?:$|[ \t;])|[a-z]+\/[\w.!#$&^-]+\+(?:json|xml|yaml|text)(?:$|[ \t;]))/;

/** @param rules undefined if the gateway does not compress */
export function createCompression(rules: CompressionRules | undefined): Compression | undefined {
  if (rules === undefined) return undefined;
  const { codings, bytesMin } = rules;

  /** Returns the coding that the client prefers (RFC 9110 section 12.5.3); undefined if there is none. */
  function chooseCoding(accepted: string | undefined): Pick<CompressedForm, 'coding' | 'bytesMin'> | undefined {
    if (accepted === undefined) return undefined;
    const weights = acceptedCodings(accepted);
    let coding: CompressionCoding | undefined;
    let best = weights.get('identity') ?? 0;
    for (const one of codings) {
      const weight = weightOf(weights, one);
      // At equal weight the first configured coding wins, and every coding wins over `identity`.
      if (weight > best || (weight === best && weight > 0 && coding === undefined)) {
        coding = one;
        best = weight;
      }
    }
    return coding && { coding, bytesMin: refusesIdentity(weights) ? 0 : bytesMin };
  }

  return {
    formOf(asked, status, headers, length) {
      if (status === 304) return notModified(asked, headers);
      // An answer that is stored for repetitions is not compressed, because a repetition may come from a client that accepts other codings.
      if (asked.recording !== undefined || !isCompressible(status, headers)) return undefined;
      const choice = mayTransform(asked.headers.get('cache-control'))
        ? chooseCoding(asked.headers.get('accept-encoding'))
        : undefined;
      const plain = { ...headers, vary: withAcceptEncoding(headers.vary) };
      if (choice === undefined || length === 0 || (length > 0 && length < choice.bytesMin))
        return { headers: plain, compressed: undefined };
      const encoded = {
        ...plain,
        // The answer to HEAD names a coding only if its length shows that the answer to GET would be compressed (RFC 9110 section 9.3.2).
        'content-encoding': asked.method === 'HEAD' && length < 0 ? undefined : choice.coding,
        etag: weaken(headers.etag),
        // The compressed form does not support ranges.
        'accept-ranges': undefined,
      };
      return { headers: plain, compressed: { ...choice, headers: encoded } };
    },
  };
}

function isCompressible(status: number, headers: AnswerHeaders): boolean {
  if (status < 200 || status >= 300 || UNFIT_STATUSES.has(status)) return false;
  const type = joinedValueOf(headers['content-type'])?.toLowerCase() ?? '';
  if (!COMPRESSIBLE.test(type) || codingOf(headers) !== '') return false;
  return (
    mayTransform(joinedValueOf(headers['cache-control'])) &&
    HEADERS_ABOUT_BYTES.every((name) => headers[name] === undefined)
  );
}

/**
 * Whether the gateway may change the content. The client or the upstream can forbid it by `no-transform` (RFC 9111 sections 5.2.1.6 and
 * 5.2.2.6).
 */
function mayTransform(cacheControl: string | undefined): boolean {
  return cacheControl === undefined || !/(?:^|[ \t,])no-transform(?:$|[ \t,=])/i.test(cacheControl);
}

/**
 * Returns the headers of a 304. A client that has stored the compressed form finds it only by its weak ETag, so this client gets the weak
 * ETag (RFC 9111 section 4.3.4).
 */
function notModified({ headers: asked }: Pick<Forwardable, 'headers'>, headers: AnswerHeaders): AnswerForm {
  const etag = joinedValueOf(headers.etag);
  const isWeak = etag?.startsWith('"') === true && asked.get('if-none-match')?.includes(`W/${etag}`) === true;
  const vary = withAcceptEncoding(headers.vary);
  return { headers: { ...headers, vary, etag: isWeak ? `W/${etag}` : headers.etag }, compressed: undefined };
}

/** Returns the ETag as a weak ETag, because the compressed and the plain form have different bytes (RFC 9110 section 8.8.1). */
function weaken(etag: string | string[] | undefined): string | undefined {
  const text = joinedValueOf(etag);
  return text?.startsWith('"') ? `W/${text}` : text || undefined;
}

function withAcceptEncoding(vary: string | string[] | undefined): string {
  const text = joinedValueOf(vary) ?? '';
  const names = text
    .toLowerCase()
    .split(',')
    .map((one) => one.trim());
  if (names.includes('*') || names.includes('accept-encoding')) return text;
  return text === '' ? 'Accept-Encoding' : `${text}, Accept-Encoding`;
}
