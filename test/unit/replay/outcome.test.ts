import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import {
  bodyToRepeat,
  mayHaveRun,
  outcomeOfAnswer,
  outcomeOfRefusal,
  parseOutcome,
} from '../../../gateway/replay/outcome.ts';
import { toUpstreamRefusal } from '../../../gateway/upstream/errors/upstream-errors.ts';
import { anyCharacter } from '../../support/characters.ts';
import { refused } from '../upstream/declared.ts';

test('an answer is read without change, for any bytes of its body', () => {
  const header = fc.tuple(fc.constantFrom('Content-Type', 'ETag', 'Link'), fc.string({ unit: anyCharacter }));
  fc.assert(
    fc.property(fc.uint8Array(), fc.array(header), fc.integer({ min: 200, max: 399 }), (bytes, headers, status) => {
      const answer = { status, headers: headers.flat(), body: Buffer.from(bytes) };
      const record = outcomeOfAnswer('req_1', answer);
      assert.ok(record);
      assert.deepEqual(parseOutcome(record), { kind: 'answer', requestId: 'req_1', ...answer });
    }),
  );
});

test("an upstream's own replay marker is left out", () => {
  const headers = ['ETag', '"1"', 'Idempotent-Replayed', 'true', 'Original-Request-Id', 'req_0', 'Vary', 'Accept'];
  const record = outcomeOfAnswer('req_1', { status: 201, headers, body: Buffer.alloc(0) });
  assert.deepEqual((parseOutcome(record as Buffer) as { headers: unknown }).headers, ['ETag', '"1"', 'Vary', 'Accept']);
});

test('a cookie is not recorded, and one in a record of a former version is not given again', () => {
  const headers = ['Set-Cookie', 'session=1', 'ETag', '"1"', 'set-cookie', 'b=2'];
  const record = outcomeOfAnswer('req_1', { status: 201, headers, body: Buffer.from('{}') }) as Buffer;
  assert.doesNotMatch(record.toString(), /cookie/i);
  const former = Buffer.from(`${JSON.stringify({ kind: 'answer', requestId: 'req_1', status: 201, headers })}\n{}`);
  for (const bytes of [record, former]) {
    const outcome = {
      kind: 'answer',
      requestId: 'req_1',
      status: 201,
      headers: ['ETag', '"1"'],
      body: Buffer.from('{}'),
    };
    assert.deepEqual(parseOutcome(bytes), outcome);
  }
});

const once = { secret: null, secret_shown: 'before' };
for (const [what, body, stored] of [
  [
    'a secret',
    '{"id":"key_1","secret":"sk_1","secret_shown":"here"}',
    '{"id":"key_1","secret":null,"secret_shown":"before"}',
  ],
  ['a secret that is no text', '{"secret":{"a":["sk_1"]}}', '{"secret":null}'],
  ['a secret twice', '{"secret":"sk_1","secret":"sk_2"}', '{"secret":null,"secret":null}'],
  ['a null before a secret', '{"secret":null,"secret":"sk_2"}', '{"secret":null,"secret":null}'],
  ['a name that is written with escapes', '{"\\u0073ecret":"sk_1"}', '{"secret":null}'],
  [
    'numbers that JavaScript rounds',
    '{"n":12345678901234567890,"secret":1}',
    '{"n":12345678901234567890,"secret":null}',
  ],
  [
    'no secret at all, as in a dry run',
    '{"secret":null,"secret_shown":"never"}',
    '{"secret":null,"secret_shown":"never"}',
  ],
  ['a list', '[{"secret":"sk_1"}]', undefined],
  ['a text', '"sk_1"', undefined],
  ['no JSON', 'secret=sk_1', undefined],
  ['nothing', '', undefined],
] as const) {
  test(`of ${what}, nothing is stored that only its first reader may see`, () => {
    assert.equal(bodyToRepeat(Buffer.from(body), once)?.toString(), stored);
  });
}

test('a body that was too long leaves no record', () => {
  assert.equal(outcomeOfAnswer('req_1', { status: 201, headers: [], body: undefined }), undefined);
});

const refusalOf = (status: number, body = '{}') =>
  toUpstreamRefusal(status, { 'content-type': 'application/json' }, Buffer.from(body), refused());

test('a refusal of the upstream is restored with all its parts', () => {
  const said = { type: 'conflict_error', code: 'seat_taken', message: 'Sitz – belegt.', param: 'seat' };
  const thrown = refusalOf(422, JSON.stringify({ error: said }));
  const record = outcomeOfRefusal('req_1', thrown);
  const { code, details } = thrown;
  const { upstreamStatus, ...kept } = details;
  assert.equal(upstreamStatus, 422);
  assert.deepEqual(parseOutcome(record as Buffer), {
    kind: 'refusal',
    requestId: 'req_1',
    code,
    details: kept,
    body: Buffer.alloc(0),
  });
});

test('only refusals that would be the same the next time are kept', () => {
  const kept = [400, 401, 403, 404, 405, 407, 408, 409, 410, 412, 413, 415, 422, 429, 500, 501, 502, 503, 504].filter(
    (status) => outcomeOfRefusal('req_1', refusalOf(status)) !== undefined,
  );
  assert.deepEqual(kept, [400, 404, 405, 410, 412, 413, 415, 422]);
});

test('failures of the gateway and of the way to the upstream are not kept, nor is anything else that is thrown', () => {
  for (const thrown of [
    new GatewayError('upstream_timeout'),
    new GatewayError('upstream_contract_violation'),
    new GatewayError('upstream_rejected'),
    new TypeError('a bug'),
    undefined,
  ]) {
    assert.equal(outcomeOfRefusal('req_1', thrown), undefined);
  }
});

test('an unknown outcome: failures after sending, not refusals', () => {
  for (const status of [400, 401, 403, 404, 408, 409, 422, 429, 500, 501, 502, 503, 504, 505, 507, 599]) {
    assert.equal(mayHaveRun(refusalOf(status)), false, String(status));
  }
  for (const code of [
    'gateway_overloaded',
    'upstream_unreachable',
    'upstream_overloaded',
    'upstream_auth_failed',
  ] as const)
    assert.equal(mayHaveRun(new GatewayError(code)), false, code);
  for (const code of ['upstream_timeout', 'upstream_contract_violation', 'internal_error'] as const)
    assert.equal(mayHaveRun(new GatewayError(code)), true, code);
  for (const thrown of [undefined, new Error('a bug')]) assert.equal(mayHaveRun(thrown), true);
});
