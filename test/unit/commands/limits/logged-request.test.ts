import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseLoggedRequest } from '../../../../gateway/commands/limits/simulate/logged-request.ts';
import type { Caller } from '../../../../gateway/exchange/caller.ts';
import { Trail } from '../../../../gateway/exchange/trail.ts';
import { createLineOf } from '../../../../gateway/observe/log/line.ts';
import { caller, operation, organization } from '../../limits/parties.ts';
import { START_MS } from '../../limits/scenarios.ts';
import { exchange, recorded } from './logged-requests.ts';

const parse = (members: Record<string, unknown>) => parseLoggedRequest(JSON.stringify(exchange(members)));

/** The log line of a request with decided limits. */
function written(by: Caller, notes: Partial<Trail> = {}): string {
  const trail = Object.assign(new Trail('req_1', 'GET'), {
    stage: 'forward',
    status: 200,
    operation: operation('listThings'),
    caller: by,
    clientAddress: '192.0.2.1',
    limits: { states: [], tightest: undefined },
    limitSource: 'redis',
    limitDecidedAtMs: START_MS,
    ...notes,
  });
  return createLineOf()(trail, 30, START_MS + 5);
}

test('a log line of the gateway is read back: caller, operation, address and the time of the decision', () => {
  const line = written(caller('key_1', organization('org_a')));
  assert.deepEqual(parseLoggedRequest(line), recorded(0, { writtenAtMs: START_MS + 5 }));
});

test('the caller of a token is known by its issuer too, and an anonymous one has no organization', () => {
  const ofToken = parseLoggedRequest(written({ ...caller('user_1', organization('org_a')), issuer: 'web' }));
  assert.ok(typeof ofToken === 'object');
  assert.deepEqual([ofToken.issuer, ofToken.subject], ['web', 'user_1']);
  const anonymous = parseLoggedRequest(written(caller('anonymous', undefined)));
  assert.ok(typeof anonymous === 'object');
  assert.deepEqual([anonymous.organization, anonymous.tier, anonymous.client], [undefined, undefined, '192.0.2.1']);
});

test('a refusal counts as one of the limits only if they made it', () => {
  const refusedAt = (stage: string, code: string) => parse({ stage, status: 429, code });
  for (const [stage, code, refused] of [
    ['limit', 'rate_limited', true],
    ['limit', 'gateway_overloaded', false],
    ['forward', 'rate_limited', false],
  ] as const) {
    const found = refusedAt(stage, code);
    assert.ok(typeof found === 'object');
    assert.equal(found.refused, refused, `${stage} ${code}`);
  }
});

test('a request that no rule counted is taken to have been decided when it arrived', () => {
  const found = parse({ decided_at: undefined, time: START_MS + 40, duration_ms: 38.6 });
  assert.ok(typeof found === 'object');
  assert.equal(found.atMs, START_MS + 1);
});

for (const stage of ['admit', 'throttle', 'match', 'authenticate', 'authorize']) {
  test(`an exchange that ended in ${stage} was never counted`, () => {
    assert.equal(parse({ stage, status: 400 }), 'before_limits');
  });
}

test('a line about something else than an exchange is distinguished from one that no gateway wrote', () => {
  assert.equal(parseLoggedRequest('{"level":30,"time":1,"msg":"the key store is back"}'), 'other');
  for (const line of ['', ' ', 'GET / HTTP/1.1', '{"msg":"exchange"', 'null', '[]', '"exchange"', '7', '{}', '\x00']) {
    assert.equal(parseLoggedRequest(line), 'unreadable', line);
  }
});

for (const [what, members] of [
  ['no time', { time: undefined }],
  ['a time that is text', { time: '2026-11-20T12:00:00Z' }],
  ['a time that no calendar has', { time: 1e300, decided_at: undefined }],
  ['no time of its decision that is one', { decided_at: 'now' }],
  ['a time before all times', { decided_at: -1 }],
  ['no duration', { duration_ms: null }],
  ['no operation', { operation: undefined }],
  ['a number for an organization', { organization: 7 }],
  ['an organization without a tier', { tier: undefined }],
  ['a tier without an organization', { organization: undefined }],
  ['no caller', { key_id: undefined }],
  ['an issuer without a subject', { token_issuer: 'web', key_id: undefined }],
  ['an address that is none', { client: [] }],
] as const) {
  test(`an exchange with ${what} is unreadable`, () => {
    assert.equal(parse(members), 'unreadable');
  });
}
