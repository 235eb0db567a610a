// Reads the header fields of an error that the refusal for the client keeps.

import type { AnswerHeaders } from '../../http1/client/wire.ts';

/**
 * Returns the header fields that a client needs: `Preference-Applied` (RFC 7240 section 3), and `Content-Range` of a 416. `Content-Range`
 * states the length of the file, by which a client that resumes a download knows that it already has everything (RFC 9110 section 15.5.17).
 */
export function keptHeaders(status: number, headers: AnswerHeaders): { headers?: Readonly<Record<string, string>> } {
  const { 'preference-applied': preference, 'content-range': range } = headers;
  const isLength = status === 416 && typeof range === 'string' && /^[\w-]{1,32} \*\/\d{1,18}$/.test(range);
  if (typeof preference !== 'string' && !isLength) return {};
  return {
    headers: {
      ...(typeof preference === 'string' ? { 'Preference-Applied': preference } : {}),
      ...(isLength ? { 'Content-Range': range } : {}),
    },
  };
}

/**
 * Reads Retry-After, which is a number of seconds, or a date in one of the three forms of RFC 9110 section 5.6.7. Seconds are matched
 * first, because Date.parse would read a number as a date.
 */
export function retryAfter(headers: AnswerHeaders): { retryAfterSeconds?: number } {
  const text = headers['retry-after'];
  if (typeof text !== 'string') return {};
  if (/^\d{1,6}$/.test(text)) return { retryAfterSeconds: Math.max(1, Number(text)) };
  const seconds = /^[A-Z][a-z]+,? /.test(text) ? Math.ceil((Date.parse(text) - Date.now()) / 1000) : Number.NaN;
  return Number.isFinite(seconds) ? { retryAfterSeconds: Math.max(1, seconds) } : {};
}
