// Compares the answer of a service that was called directly with its answer through the gateway.

import type { Answer } from './wire.ts';

/** Headers that belong to one connection or one server, not to the answer. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'date',
  'server',
  'x-powered-by',
]);

/** Headers that must not appear on the way. The gateway adds others of its own: request id, limits, security. */
const NEVER_ADDED = [
  'accept-ranges',
  'content-disposition',
  'content-encoding',
  'content-range',
  'etag',
  'location',
  'set-cookie',
];

/** Headers of errors that a client decides by. */
const OF_ERRORS = ['allow', 'content-range', 'retry-after'];

/** Each difference by its place: `status`, the name of a header, `bytes`, or `error object`. */
export type Differences = Readonly<Record<string, string>>;

/**
 * Lists the differences that a client can see. Of an error (from 400 on) the status counts, the headers that a client decides by, and that
 * the body through the gateway is its error object.
 */
export function differencesOf(direct: Answer, through: Answer): Differences {
  const found: Record<string, string> = {};
  if (direct.status !== through.status) found.status = `${direct.status} → ${through.status}`;
  if (through.status >= 400 && !isErrorObject(through)) found['error object'] = through.body.toString().slice(0, 200);
  for (const name of namesOf(direct, through)) {
    const [before, after] = [headerOf(direct, name), headerOf(through, name)];
    if (!isSame(name, before, after)) found[name] = `${before} → ${after}`;
  }
  if (through.status < 400 && !direct.body.equals(through.body))
    found.bytes = `${excerptOf(direct.body)} → ${excerptOf(through.body)}`;
  return found;
}

function namesOf(direct: Answer, through: Answer): Iterable<string> {
  if (through.status >= 400) return direct.status === through.status ? OF_ERRORS : [];
  const sent = Object.keys(direct.headers).filter((name) => !OF_THE_CONNECTION.has(name));
  return new Set([...sent, ...NEVER_ADDED.filter((name) => through.headers[name] !== undefined)]);
}

function headerOf({ headers }: Answer, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join('\n') : value;
}

function isSame(name: string, before: string | undefined, after: string | undefined): boolean {
  if (name !== 'vary') return before === after;
  // Further members of Vary harm no client.
  const members = (text = '') => text.split(',').map((one) => one.trim().toLowerCase());
  return members(before).every((member) => members(after).includes(member));
}

function isErrorObject({ headers, body }: Answer): boolean {
  if (!headers['content-type']?.startsWith('application/json')) return false;
  if (body.length === 0) return true; // HEAD
  const { error } = JSON.parse(body.toString()) as { error?: { code?: unknown; message?: unknown } };
  return typeof error?.code === 'string' && typeof error.message === 'string';
}

function excerptOf(body: Buffer): string {
  return `${body.length} bytes ${JSON.stringify(body.subarray(0, 60).toString('latin1'))}`;
}
