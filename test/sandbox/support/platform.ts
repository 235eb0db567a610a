// A sandbox in this process behind a real socket, a gateway key made at run time, and a clock that stands still until a
// test moves it.
import type { AddressInfo } from 'node:net';
import { after, type TestContext } from 'node:test';
import { type CryptoKey, exportJWK, generateKeyPair, type JSONWebKeySet, SignJWT } from 'jose';
import { createSandbox } from '../../../sandbox/server.ts';

export const ISSUER = 'https://gateway.example.com';
const SECRET = 'only for tests';

export interface GatewayKey {
  readonly jwks: JSONWebKeySet;
  readonly privateKey: CryptoKey;
}

export async function createGatewayKey(kid = 'gateway-1'): Promise<GatewayKey> {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  return { jwks: { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'EdDSA' }] }, privateKey };
}

export interface Claims {
  readonly org?: unknown;
  readonly mode?: unknown;
  readonly scopes?: unknown;
  readonly token_issuer?: string;
}

/** The headers of the gateway for a caller, by default. */
export function assertionOf(claims: Claims, nowMs = Date.now(), header: { alg?: string; kid?: string } = {}): SignJWT {
  const seconds = Math.floor(nowMs / 1000);
  return new SignJWT({ org: 'org_one', mode: 'live', scopes: ['*'], ...claims })
    .setProtectedHeader({ alg: 'EdDSA', kid: 'gateway-1', ...header })
    .setIssuer(ISSUER)
    .setAudience('platform')
    .setSubject('key_one')
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + 60);
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted member by member
  readonly body: any;
}

interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Call = (method: string, path: string, options?: CallOptions) => Promise<Reply>;

export interface Platform {
  readonly url: string;
  readonly key: GatewayKey;
  readonly clock: { nowMs: number };
  /** A caller of this organization and mode. */
  as(org: string, mode?: 'live' | 'test'): Promise<Call>;
  close(): Promise<void>;
}

async function startPlatform(options: { databasePath?: string; key?: GatewayKey; nowMs?: number } = {}) {
  const key = options.key ?? (await createGatewayKey());
  const clock = { nowMs: options.nowMs ?? Date.parse('2026-03-01T12:00:00.000Z') };
  const faults: unknown[] = [];
  const sandbox = createSandbox({
    databasePath: options.databasePath ?? ':memory:',
    trusted: () => key.jwks,
    issuer: ISSUER,
    cursorSecret: SECRET,
    now: () => clock.nowMs,
    onFault: (error) => faults.push(error),
  });
  await new Promise<void>((resolve) => sandbox.server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(sandbox.server.address() as AddressInfo).port}`;
  const platform: Platform = {
    url,
    key,
    clock,
    async as(org, mode = 'live') {
      return (method, path, callOptions) => {
        const assertion = assertionOf({ org, mode }, clock.nowMs).sign(key.privateKey);
        return assertion.then((token) => send(url, token, method, path, callOptions));
      };
    },
    async close() {
      await sandbox.close();
      if (faults.length > 0) throw new AggregateError(faults, 'the sandbox had faults of its own');
    },
  };
  return platform;
}

export async function send(
  url: string,
  assertion: string | undefined,
  method: string,
  path: string,
  { body, headers }: CallOptions = {},
): Promise<Reply> {
  const response = await fetch(url + path, {
    method,
    headers: { ...(assertion === undefined ? {} : { 'x-gateway-assertion': assertion }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

/** Starts a platform for a whole file and closes it at the end. */
export async function platformForFile(): Promise<Platform> {
  const platform = await startPlatform();
  after(() => platform.close());
  return platform;
}

/** Starts a platform for one test. */
export async function platformFor(context: TestContext): Promise<Platform> {
  const platform = await startPlatform();
  context.after(() => platform.close());
  return platform;
}

/** Creates a record and returns it, or fails with the service's answer. */
export async function create(call: Call, resource: string, body: Readonly<Record<string, unknown>>) {
  const reply = await call('POST', `/v1/${resource}`, { body });
  if (reply.status !== 201) throw new Error(`${resource}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}

/** Reads a list to its end. */
export async function walk(call: Call, path: string): Promise<{ records: { id: string }[]; pages: number }> {
  const records: { id: string }[] = [];
  let cursor = '';
  for (let pages = 1; ; pages += 1) {
    const glue = path.includes('?') ? '&' : '?';
    const reply = await call('GET', cursor === '' ? path : `${path}${glue}cursor=${encodeURIComponent(cursor)}`);
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
    records.push(...reply.body.data);
    if (!reply.body.has_more) return { records, pages };
    cursor = reply.body.cursor;
  }
}
