// Reads the body of an error if it is JSON. Pure.

import type { Forwardable } from '../../exchange/exchange.ts';
import type { AnswerHeaders } from '../../http1/client/wire.ts';
import { codingOf, decodeBody } from '../encoding/decode.ts';
import { type ErrorForm, type ParsedError, parseDialect } from './error-dialects.ts';
import type { DefaultPlace } from './field-errors.ts';
import { secretsIn, withoutSecrets } from './submitted-secrets.ts';

/** Longer error bodies are not read, because error objects are small. */
export const ERROR_BODY_BYTES_MAX = 65_536;

/** Returns the recognised parts of an error body, without the parts that repeat a secret of the request. */
export function parsedErrorFor(
  refused: Pick<Forwardable, 'method' | 'rawBody' | 'headers'> | undefined,
  headers: AnswerHeaders,
  body: Buffer,
): ParsedError | undefined {
  const decoded = decodeBody(body, codingOf(headers), ERROR_BODY_BYTES_MAX);
  if (typeof decoded === 'string') return undefined;
  const hasBody = refused !== undefined && refused.method !== 'GET' && refused.method !== 'HEAD';
  const parsed = parseError(headers, decoded, hasBody ? 'body' : 'query');
  return parsed && withoutSecrets(parsed, secretsIn(refused?.rawBody, refused?.headers.get('content-type')));
}

/** Returns the form of an error body; undefined if nothing is recognised. */
export function errorFormOf(headers: AnswerHeaders, body: Buffer): ErrorForm | undefined {
  const parsed = parseError(headers, body, 'body');
  return parsed?.code === undefined && parsed?.message === undefined ? undefined : parsed.form;
}

export function hasJsonType(headers: AnswerHeaders): boolean {
  return /\bjson\b/.test(String(headers['content-type'] ?? ''));
}

function parseError(headers: AnswerHeaders, body: Buffer, place: DefaultPlace): ParsedError | undefined {
  if (!hasJsonType(headers)) return undefined;
  const mediaType = String(headers['content-type'] ?? '');
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
  return parseDialect(value, /problem\+json/.test(mediaType), place);
}
