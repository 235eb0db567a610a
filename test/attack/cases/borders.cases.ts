// The borders of input: exactly as much as allowed passes, one more is refused.

import { type AttackCase, arrives, ended, get, passes } from './case.ts';
import { LIMITS } from './limits.ts';

const LINES_MAX = 100;
const target = (length: number) => `/v1/things?q=${'x'.repeat(length - 13)}`;

/** A request with this many bytes in its header section, as counted: name, value, and four for colon, space and line end. */
function filled(size: number): string {
  const key = 'sk_live_'.length + 38;
  const present = 'Host: api.test\r\n'.length + `Authorization: Bearer ${'x'.repeat(key)}\r\n`.length;
  return get('/v1/things', `X-A: ${'x'.repeat(size - present - 'X-A: \r\n'.length)}`);
}

const many = (lines: number) => get('/v1/things', ...Array.from({ length: lines - 2 }, (_, at) => `X-${at}: 1`));

export const borderCases: readonly AttackCase[] = [
  {
    name: 'a target as long as allowed',
    sent: get(target(LIMITS.urlBytesMax)),
    ...passes(arrives(`GET ${target(LIMITS.urlBytesMax)}`)),
  },
  { name: 'a target that is a byte longer', sent: get(target(LIMITS.urlBytesMax + 1)), ...ended('414 uri_too_long') },
  {
    name: 'an absolute target counts with all it has',
    sent: get(`http://a${target(LIMITS.urlBytesMax - 7)}`),
    ...ended('414 uri_too_long'),
  },
  {
    name: 'header lines as long as allowed',
    sent: filled(LIMITS.headerBytesMax),
    ...passes(arrives('GET /v1/things')),
  },
  {
    name: 'header lines that are a byte longer',
    sent: filled(LIMITS.headerBytesMax + 1),
    ...ended('431 headers_too_large'),
  },
  { name: 'as many header lines as allowed', sent: many(LINES_MAX), ...passes(arrives('GET /v1/things')) },
  { name: 'a header line more', sent: many(LINES_MAX + 1), ...ended('431 headers_too_large') },
  { name: 'more header lines than a parser takes', sent: many(5000), ...ended('431 headers_too_large') },
  {
    name: 'a header line without end',
    sent: get('/v1/things', `X-A: ${'x'.repeat(100_000)}`),
    ...ended('431 headers_too_large'),
  },
  {
    name: 'a header name without end',
    sent: get('/v1/things', `${'x'.repeat(100_000)}: a`),
    ...ended('431 headers_too_large'),
  },
  { name: 'a target without end', sent: get(`/${'x'.repeat(100_000)}`), ...ended('431 headers_too_large') },
  {
    name: 'many parameters in a query',
    sent: get(`/v1/things?${'a&'.repeat(140)}`),
    client: ['400 validation_failed', 'open'],
  },
  {
    name: 'a path of many segments',
    sent: get(`/v1/things${'/a'.repeat(140)}`),
    client: ['404 route_not_found', 'open'],
  },
];
