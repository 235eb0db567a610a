// An issuer of tokens for tests: real keys made at run time, published over real HTTP, on a server that can go away, hang and lie.

import { createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign as signBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { startUpstream } from './upstream.ts';

export interface SigningKey {
  readonly kid: string;
  readonly algorithm: string;
  readonly privateKey: KeyObject;
  /** The published public half. */
  readonly jwk: Readonly<Record<string, unknown>>;
}

export interface TestIssuer {
  /** The `iss` of its tokens. */
  readonly iss: string;
  /** Its entry under `issuers` in gateway.yaml. */
  readonly entry: Readonly<Record<string, unknown>> & { readonly jwksUrl: string };
  /** Returns the key that signs now. */
  key(): SigningKey;
  /** Returns a token with valid claims, replaced by these claims. An undefined claim is left out. */
  sign(claims?: object, header?: object): string;
  /** Signs with a new key from now on. The published set has the new key, with or without the former keys. */
  rotate(others?: 'keep' | 'withdraw'): SigningKey;
  /** Answers requests for the keys in another way, until `publish`. */
  answers(answer: (response: ServerResponse) => void): void;
  /** Breaks connections from now on. */
  goAway(): void;
  /** Publishes these keys, or its own keys. */
  publish(keys?: readonly object[]): void;
  /** Returns the number of requests for its keys. */
  asked(): number;
  close(): Promise<void>;
}

export const AUDIENCE = 'https://api.test';

export async function startIssuer(now: () => number = Date.now, algorithm = 'EdDSA'): Promise<TestIssuer> {
  const iss = `https://issuer.test/${randomUUID()}`;
  let keys = [makeSigningKey(algorithm)];
  let answer = (response: ServerResponse) =>
    answerKeys(
      response,
      keys.map(({ jwk }) => jwk),
    );
  const server = await startUpstream((_request, response) => answer(response));
  const current = () => keys.at(-1) as SigningKey;
  return {
    iss,
    entry: { issuer: iss, jwksUrl: `${server.url}/keys`, audience: AUDIENCE, algorithms: [algorithm] },
    key: current,
    sign: (claims = {}, header = {}) => signToken(current(), { iss, ...soundClaims(now()), ...claims }, header),
    rotate(others = 'keep') {
      keys = [...(others === 'keep' ? keys : []), makeSigningKey(algorithm)];
      return current();
    },
    answers(other) {
      answer = other;
    },
    goAway() {
      answer = (response) => response.destroy();
    },
    publish(given) {
      answer = (response) => answerKeys(response, given ?? keys.map(({ jwk }) => jwk));
    },
    asked: () => server.requests.length,
    close: server.close,
  };
}

function answerKeys(response: ServerResponse, keys: readonly object[]): void {
  response.setHeader('content-type', 'application/jwk-set+json');
  response.end(JSON.stringify({ keys }));
}

/** Returns the claims of an accepted token of a test organization, for an hour. */
export function soundClaims(nowMs: number): Record<string, unknown> {
  const seconds = Math.floor(nowMs / 1000);
  return { aud: AUDIENCE, sub: 'user-1', org: 'org_test', scope: '*', iat: seconds, exp: seconds + 3600 };
}

export function makeSigningKey(algorithm: string, members: object = {}): SigningKey {
  const { privateKey, publicKey } = generate(algorithm);
  const kid = randomUUID();
  return { kid, algorithm, privateKey, jwk: { kid, ...publicKey.export({ format: 'jwk' }), ...members } };
}

function generate(algorithm: string) {
  const namedCurve = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }[algorithm];
  if (namedCurve !== undefined) return generateKeyPairSync('ec', { namedCurve });
  return algorithm === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('rsa', { modulusLength: 2048 });
}

/** Returns a valid token: header and claims, signed by the key that the header names. */
export function signToken(key: SigningKey, claims: object, header: object = {}): string {
  return compact({ alg: key.algorithm, kid: key.kid, typ: 'JWT', ...header }, claims, (input) =>
    signatureOf(key, input),
  );
}

/** Returns a token of any header and claims, as objects or as texts, with any signature. */
export function compact(
  header: object | string,
  claims: object | string,
  signature: (input: string) => Buffer | string,
): string {
  const input = [header, claims]
    .map((part) => encoded(typeof part === 'string' ? part : JSON.stringify(part)))
    .join('.');
  return `${input}.${encoded(signature(input))}`;
}

export function signatureOf({ algorithm, privateKey }: SigningKey, input: string): Buffer {
  if (algorithm === 'EdDSA') return signBytes(null, Buffer.from(input), privateKey);
  const hash = `sha${algorithm.slice(2)}`;
  return signBytes(hash, Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
}

/** Returns an HS256 signature, with any text as the secret. */
export function macOf(secret: string, input: string): Buffer {
  return createHmac('sha256', secret).update(input).digest();
}

function encoded(bytes: Buffer | string): string {
  return Buffer.from(bytes).toString('base64url');
}
