// The ACME client (RFC 8555): directory, nonces and signed requests. Throws AcmeFailure.

import { createHmac, createPublicKey, hash, type JsonWebKey, type KeyObject, sign } from 'node:crypto';
import type { HttpAnswer, HttpClient } from './acme-http.ts';
import { AcmeFailure, type FailureKind } from './failure.ts';

/** A server may reject a nonce at any time (section 6.5). After this many rejections in a row, the request fails. */
const NONCE_ATTEMPTS = 20;
const PROBLEM = 'urn:ietf:params:acme:error:';

interface AcmeDirectory {
  readonly newNonce: string;
  readonly newAccount: string;
  readonly newOrder: string;
  readonly revokeCert: string;
  readonly keyChange: string;
  /** The URL of renewal information (RFC 9773); undefined if the server does not offer it. */
  readonly renewalInfo?: string;
  readonly meta?: { readonly externalAccountRequired?: boolean };
}

/** The key that signs, and the URL of its account. Without the URL, the request contains the public key. */
export interface Signer {
  readonly key: KeyObject;
  readonly account?: string | undefined;
}

interface AcmeAnswer<T> {
  readonly value: T;
  readonly location: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly text: string;
}

interface AcmeClientOptions {
  readonly directoryUrl: string;
  readonly http: HttpClient;
  /** Called before each request. It may throw, to stop the work. */
  before(): Promise<void>;
  readonly signal?: AbortSignal | undefined;
  now(): number;
}

export interface AcmeClient {
  /** Returns the directory. The first call reads it. */
  directory(): Promise<AcmeDirectory>;
  /** Sends a signed request. A request without a payload reads a resource (POST-as-GET). */
  post<T>(url: string, signer: Signer, payload?: object): Promise<AcmeAnswer<T>>;
  /** Sends an unsigned request. */
  get<T>(url: string): Promise<AcmeAnswer<T>>;
}

export function createAcmeClient({ directoryUrl, http, before, signal, now }: AcmeClientOptions): AcmeClient {
  let known: AcmeDirectory | undefined;
  let nonce: string | undefined;

  async function send(method: 'GET' | 'HEAD' | 'POST', url: string, body?: string): Promise<HttpAnswer> {
    await before();
    const answer = await http.send(method, url, body, signal);
    // Each answer may carry the next nonce.
    nonce = answer.header('replay-nonce') ?? nonce;
    return answer;
  }

  async function get<T>(url: string): Promise<AcmeAnswer<T>> {
    const answer = await send('GET', url);
    if (answer.status >= 300) throw failureOf(answer, now());
    return answerOf(answer, now());
  }

  async function directory(): Promise<AcmeDirectory> {
    if (known === undefined) {
      const { value } = await get<Partial<AcmeDirectory> | undefined>(directoryUrl);
      if (value?.newNonce === undefined || value.newOrder === undefined || value.newAccount === undefined)
        throw new AcmeFailure('server', `There is no ACME directory at ${directoryUrl}.`);
      known = value as AcmeDirectory;
    }
    return known;
  }

  async function takeNonce(): Promise<string> {
    if (nonce === undefined) {
      const answer = await send('HEAD', (await directory()).newNonce);
      if (answer.status >= 300) throw failureOf(answer, now());
    }
    const taken = nonce;
    nonce = undefined;
    if (taken === undefined) throw new AcmeFailure('server', 'The ACME server sent no nonce.');
    return taken;
  }

  async function post<T>(url: string, { key, account }: Signer, payload?: object): Promise<AcmeAnswer<T>> {
    const who = account === undefined ? { jwk: publicJwk(key) } : { kid: account };
    for (let attempt = 1; ; attempt++) {
      const header = { alg: 'ES256', nonce: await takeNonce(), url, ...who };
      const answer = await send('POST', url, JSON.stringify(toJws(header, key, payload)));
      if (answer.status < 300) return answerOf(answer, now());
      const failure = failureOf(answer, now());
      if (failure.type !== 'badNonce' || attempt === NONCE_ATTEMPTS) throw failure;
    }
  }

  return { directory, post, get };
}

function answerOf<T>(answer: HttpAnswer, nowMs: number): AcmeAnswer<T> {
  const isJson = /json/.test(answer.header('content-type') ?? '');
  return {
    value: (isJson ? parseJson(answer) : undefined) as T,
    location: answer.header('location'),
    retryAfterMs: retryAfterMsOf(answer.header('retry-after'), nowMs),
    text: answer.body,
  };
}

/**
 * Makes a JWS (RFC 7515), which is a request, or the inner JWS of a key change or an external account (sections 7.3.4 and 7.3.5). The
 * function signs synchronously, because simulations must be repeatable (`test/simulation`).
 */
export function toJws(header: object, key: KeyObject | Uint8Array, payload?: object) {
  const part = (text: string) => Buffer.from(text).toString('base64url');
  const parts = {
    protected: part(JSON.stringify(header)),
    payload: part(payload === undefined ? '' : JSON.stringify(payload)),
  };
  const input = Buffer.from(`${parts.protected}.${parts.payload}`);
  const signature =
    key instanceof Uint8Array
      ? createHmac('sha256', key).update(input).digest()
      : sign('sha256', input, { key, dsaEncoding: 'ieee-p1363' });
  return { ...parts, signature: signature.toString('base64url') };
}

export function publicJwk(key: KeyObject): JsonWebKey {
  return createPublicKey(key).export({ format: 'jwk' });
}

/**
 * Returns the key authorization, which proves the control of a name (section 8.1). It consists of the token and the thumbprint (RFC 7638)
 * of the account key.
 */
export function keyAuthorizationOf(token: string, key: KeyObject): string {
  const { crv, kty, x, y } = publicJwk(key);
  return `${token}.${hash('sha256', JSON.stringify({ crv, kty, x, y }), 'base64url')}`;
}

/** A problem document (section 6.7). */
export interface Problem {
  readonly type?: string;
  readonly detail?: string;
  readonly subproblems?: readonly { readonly detail?: string; readonly identifier?: { readonly value?: string } }[];
}

/** Returns the detail of a problem document, and the details of its subproblems, as one sentence. */
export function sentenceOf({ detail = 'no reason given', subproblems = [] }: Problem): string {
  const parts = subproblems.map((one) => `${one.identifier?.value ?? '?'}: ${one.detail ?? 'no reason given'}`);
  return [detail, ...parts].join('; ');
}

function parseJson({ body }: HttpAnswer): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new AcmeFailure('server', 'The ACME server answered with broken JSON.');
  }
}

function failureOf(answer: HttpAnswer, nowMs: number): AcmeFailure {
  const problem = problemOf(answer);
  const type = problem.type?.startsWith(PROBLEM) ? problem.type.slice(PROBLEM.length) : problem.type;
  const retryAfterMs = retryAfterMsOf(answer.header('retry-after'), nowMs);
  const says = `The ACME server answered ${answer.status}${type === undefined ? '' : ` ${type}`}: ${sentenceOf(problem)}`;
  return new AcmeFailure(kindOf(answer.status, type), says, { retryAfterMs, type });
}

function problemOf(answer: HttpAnswer): Problem {
  if (!/json/.test(answer.header('content-type') ?? '')) return {};
  try {
    return (JSON.parse(answer.body) ?? {}) as Problem;
  } catch {
    return {};
  }
}

function kindOf(status: number, type: string | undefined): FailureKind {
  if (status === 429 || type === 'rateLimited') return 'limited';
  return status >= 500 || type === 'badNonce' || type === 'serverInternal' ? 'server' : 'refused';
}

/** Parses Retry-After (RFC 9110 section 10.2.3), which is a number of seconds or a date. Returns undefined if it is absent or malformed. */
export function retryAfterMsOf(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
