// Things that tests of authentication need: keys made at run time, records, exchanges, a clock that is set by hand.

import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { createApiKey, createDigestOf, keyFingerprint } from '../../../gateway/auth/api-key.ts';
import { createIssueKey, type IssuedKey, type KeyRequest } from '../../../gateway/auth/issue-key.ts';
import type { KeyStore } from '../../../gateway/auth/store/key-store.ts';
import { createSqliteKeyStore } from '../../../gateway/auth/store/sqlite/sqlite-key-store.ts';
import { type ErrorCode, GatewayError } from '../../../gateway/catalogue/errors.ts';
import type { Caller, Mode, Organization } from '../../../gateway/exchange/caller.ts';
import type { Matched } from '../../../gateway/exchange/exchange.ts';
import type { Operation } from '../../../gateway/exchange/operation.ts';
import { Trail } from '../../../gateway/exchange/trail.ts';
import { temporaryDirectory } from '../../support/directory.ts';

export const PEPPER = 'a pepper that only tests use';
export const digestOf = createDigestOf(PEPPER);
export const pepperFingerprint = keyFingerprint(digestOf);
export const START_MS = Date.parse('2026-11-20T12:00:00Z');

export function makeKey(mode: Mode = 'live'): string {
  return createApiKey(mode, randomBytes);
}

export function fakeClock(startMs = START_MS) {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    advance(ms: number) {
      nowMs += ms;
    },
  };
}

/** Left open at the end of a test: later writes remain possible, and the process closes it. */
export function openStore(directory = temporaryDirectory(), now = () => START_MS): KeyStore {
  return createSqliteKeyStore({ directory, pepperFingerprint, acceptOneWay: true, now });
}

export function organization(overrides: Partial<Organization> = {}): Organization {
  return {
    id: 'org_acme',
    name: 'Acme',
    tier: 'standard',
    state: 'active',
    contacts: [],
    operator: false,
    ...overrides,
  };
}

export function issue(overrides: Partial<KeyRequest> = {}): IssuedKey {
  return createIssueKey({ digestOf, randomBytes, now: () => START_MS })({
    organization: 'org_acme',
    mode: 'live',
    name: 'sample',
    scopes: ['*'],
    allowedCidrs: [],
    expiresAtMs: undefined,
    by: 'tests',
    ...overrides,
  });
}

/** A store with one organization that has one key. */
export async function storeWithKey(overrides: Partial<KeyRequest> = {}) {
  const store = openStore();
  await store.organizations.create(organization(), 'tests');
  const { key, record } = issue(overrides);
  await store.keys.create(record);
  return { store, key, record };
}

export function caller(overrides: Partial<Caller> = {}): Caller {
  return {
    subject: 'key_sample',
    scheme: 'apiKey',
    issuer: undefined,
    organization: organization(),
    mode: 'live',
    scopes: new Set(['*']),
    revoked: false,
    expiresAtMs: Number.POSITIVE_INFINITY,
    allowsAddress: undefined,
    ...overrides,
  };
}

export function operation(overrides: Partial<Operation> = {}): Operation {
  return {
    id: 'listCustomers',
    method: 'GET',
    path: '/v1/customers',
    publicPrefix: '',
    upstreamPrefix: '',
    version: 'v1',
    qualifiedId: '',
    restOfPath: undefined,
    pathStyles: new Map(),
    upstream: 'platform',
    entry: 'platform',
    timeoutMs: undefined,
    contract: 'v1/customers.yaml',
    security: [{ scheme: 'apiKey', scopes: ['customers:read'] }],
    provesCredential: true,
    cost: 1,
    extraLimit: undefined,
    idempotency: 'off',
    once: undefined,
    body: 'buffer',
    undeclaredQuery: 'refuse',
    streams: false,
    webSocket: false,
    answerCheck: 'report',
    undeclaredMediaTypes: 'report',
    ranges: true,
    forwardsToken: false,
    requestHeaders: [],
    responseHeaders: new Set(),
    externalReferences: new Set(),
    cookies: undefined,
    ...overrides,
  };
}

export function matched(authorization?: string, overrides: Partial<Matched> = {}): Matched {
  const trail = new Trail('req_sample', 'GET');
  return {
    id: 'req_sample',
    request: {} as IncomingMessage,
    response: {} as ServerResponse,
    trail,
    state: trail,
    commonHeaders: [],
    method: 'GET',
    path: '/v1/customers',
    segments: ['v1', 'customers'],
    query: '',
    headers: new Map(authorization === undefined ? [] : [['authorization', authorization]]),
    clientAddress: '192.0.2.1',
    scheme: 'https',
    hasBody: false,
    operation: operation(),
    pathValues: [],
    ...overrides,
  };
}

/** For `assert.throws` and `assert.rejects`. */
export function refusal(code: ErrorCode) {
  return (thrown: unknown) => thrown instanceof GatewayError && thrown.code === code;
}

/** The same, and with this further sentence. */
export function hinted(code: ErrorCode, hint: string) {
  return (thrown: unknown) => refusal(code)(thrown) && (thrown as GatewayError).details.hint === hint;
}

/** Resolves as soon as the condition holds; throws if it does not within ten seconds: lost connections are opened again after pauses. */
export async function until(condition: () => unknown): Promise<void> {
  for (let attempts = 0; attempts < 5000; attempts += 1) {
    if (await condition()) return;
    await setTimeout(2);
  }
  throw new Error(`Not within ten seconds: ${condition}`);
}
