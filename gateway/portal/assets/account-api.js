// Calls the operations of `/gateway/v1` with the key of the page. Each refusal throws a `Refusal`, and so does a missing answer. The key is sent in
// the `Authorization` header only.

import { randomText } from './page-tools.js';

/** The gateway answers within 20 seconds. */
const PATIENCE_MS = 30_000;
/** The pauses before a write whose answer was lost is sent again. After the last one, the reader decides. */
const PAUSES_MS = [1000, 3000];
const RETRY_AFTER_MAX_S = 10;

/** An answer that is an error object, or `no_answer` (status 0), or `unreadable_answer`. */
export class Refusal extends Error {
  constructor({ status, code, message, request_id, doc_url, retryable, retry_after, required_scopes, errors }) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = request_id;
    this.docUrl = doc_url;
    this.isRetryable = retryable === true;
    this.retryAfterSeconds = Number.isFinite(retry_after) ? retry_after : undefined;
    this.requiredScopes = listOf(required_scopes);
    this.violations = listOf(errors);
  }
}

const listOf = (value) => (Array.isArray(value) ? value : []);

/** A request that changes something. Its Idempotency-Key stays the same, so it has one effect, however often it is sent. */
export function createIntention(request) {
  return Object.freeze({ ...request, idempotencyKey: randomText() });
}

/** Whether a request may have been carried out although no answer says so. */
export function isOutcomeUnknown({ status, code }) {
  return status === 0 || status >= 500 || code === 'unreadable_answer' || code === 'idempotency_key_in_use';
}

function isSentAgain(refusal) {
  if ((refusal.retryAfterSeconds ?? 0) > RETRY_AFTER_MAX_S) return false;
  return refusal.status === 0 || (isOutcomeUnknown(refusal) && refusal.isRetryable);
}

export function createApi(key, { signal, fetch = globalThis.fetch, sleep = pause }) {
  /** Returns the members of the answer and its `ETag`. */
  async function ask(method, path, { query = [], body, ifMatch, idempotencyKey } = {}) {
    const headers = { authorization: `Bearer ${key}`, accept: 'application/json' };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (ifMatch !== undefined) headers['if-match'] = ifMatch;
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
    const search = new URLSearchParams(query.filter(([, value]) => value !== undefined));
    const address = `/gateway/v1${path}${search.size > 0 ? `?${search}` : ''}`;
    let answer;
    let text;
    try {
      answer = await fetch(address, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        credentials: 'omit',
        cache: 'no-store',
        redirect: 'error',
        referrerPolicy: 'no-referrer',
        signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
      });
      text = await answer.text();
    } catch (error) {
      signal.throwIfAborted();
      throw new Refusal({ status: 0, code: 'no_answer', message: String(error?.message ?? error) });
    }
    return readAnswer(answer, text);
  }

  /** Sends what was decided, again if its answer was lost. */
  async function carryOut({ method, path, ...request }) {
    for (const pauseMs of [...PAUSES_MS, undefined]) {
      try {
        return await ask(method, path, request);
      } catch (error) {
        if (!(error instanceof Refusal) || pauseMs === undefined || !isSentAgain(error)) throw error;
        await sleep(Math.max(pauseMs, (error.retryAfterSeconds ?? 0) * 1000));
        signal.throwIfAborted();
      }
    }
  }

  return { get: (path, query) => ask('GET', path, { query }), ask, carryOut };
}

function readAnswer(answer, text) {
  const { status, headers } = answer;
  const value = parseJson(text);
  const ids = { request_id: headers.get('x-request-id') ?? undefined };
  if (status >= 400) {
    const error = isObject(value) && isObject(value.error) ? value.error : {};
    throw new Refusal({ message: `The response has status ${status}.`, ...ids, ...textsIn(error), status });
  }
  if (!isObject(value))
    throw new Refusal({ status, code: 'unreadable_answer', message: 'The response is not JSON.', ...ids });
  return { value, etag: headers.get('etag') ?? undefined };
}

/** The texts of an error. An answer of a proxy before the gateway may have other types. */
function textsIn(error) {
  const texts = ['code', 'message', 'request_id', 'doc_url'];
  return Object.fromEntries(
    Object.entries(error).filter(([name, value]) => !texts.includes(name) || typeof value === 'string'),
  );
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

const pause = (ms) => new Promise((done) => setTimeout(done, ms));
