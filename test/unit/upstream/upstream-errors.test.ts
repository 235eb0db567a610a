import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toUpstreamRefusal } from '../../../gateway/upstream/errors/upstream-errors.ts';
import { refused } from './declared.ts';

const json = { 'content-type': 'application/json' };
const refusalOf = (status: number, body: unknown = {}, headers: Record<string, string | string[]> = json) =>
  toUpstreamRefusal(status, headers, Buffer.from(JSON.stringify(body)), refused());

describe('a status of an upstream', () => {
  const rows: readonly (readonly [number, string])[] = [
    [400, 'upstream_rejected'],
    [401, 'upstream_auth_failed'],
    [403, 'upstream_rejected'],
    [404, 'resource_missing'],
    [407, 'upstream_auth_failed'],
    [412, 'precondition_failed'],
    [428, 'precondition_required'],
    [418, 'upstream_rejected'],
    [429, 'upstream_overloaded'],
    [500, 'upstream_error'],
    [501, 'upstream_error'],
    [502, 'upstream_bad_response'],
    [503, 'upstream_unavailable'],
    [504, 'upstream_timeout'],
    [507, 'upstream_bad_response'],
    [799, 'upstream_bad_response'],
  ];
  for (const [status, code] of rows) {
    it(`${status} is ${code}`, () => assert.equal(refusalOf(status).code, code));
  }

  const types: readonly (readonly [number, string])[] = [
    [400, 'invalid_request_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [409, 'conflict_error'],
    [410, 'not_found_error'],
  ];
  for (const [status, type] of types) {
    it(`${status} is a ${type} unless the upstream is more precise`, () => {
      assert.equal(refusalOf(status).details.words?.type, type);
      assert.equal(
        refusalOf(status, { error: { type: 'idempotency_error' } }).details.words?.type,
        'idempotency_error',
      );
      assert.equal(refusalOf(status, { error: { type: 'made_up' } }).details.words?.type, type);
    });
  }
});

describe('the words of an upstream', () => {
  const words = (body: unknown, headers?: Record<string, string>) => refusalOf(400, body, headers).details.words;

  it('are cut where they are too long', () => {
    assert.equal(words({ message: 'x'.repeat(10_000) })?.message.length, 500);
  });

  it('hold at most twenty errors', () => {
    const errors = Array.from({ length: 50 }, (_, index) => ({ in: 'query', param: `p${index}`, code: 'invalid' }));
    const { fields } = refusalOf(400, { error: { errors } }).details;
    assert.deepEqual(
      fields?.errors,
      errors.slice(0, 20).map((error) => ({ ...error, message: 'is not valid' })),
    );
  });

  for (const code of ['Upper', 'with space', '1st', 'x'.repeat(65), '', 'a\r\nb', 7, null, {}]) {
    it(`hold no code that is none: ${JSON.stringify(code)}`, () => {
      assert.equal(words({ error: { code } })?.code, 'upstream_rejected');
    });
  }

  it('are only looked for in JSON', () => {
    const said = 'said';
    assert.equal(words({ message: said }, { 'content-type': 'application/json; charset=utf-8' })?.message, said);
    assert.equal(words({ title: said }, { 'content-type': 'application/problem+json' })?.message, said);
    assert.notEqual(words({ message: said }, { 'content-type': 'text/html' })?.message, said);
    assert.notEqual(words({ message: said }, {})?.message, said);
  });
});

describe('Retry-After of an upstream', () => {
  const wait = (text: string | string[]) => refusalOf(503, {}, { 'retry-after': text }).details.retryAfterSeconds;

  it('passes as seconds or as a date', () => {
    assert.equal(wait('17'), 17);
    assert.equal(wait('0'), 1);
    assert.equal(wait(new Date(Date.now() - 60_000).toUTCString()), 1);
    assert.ok([29, 30].includes(wait(new Date(Date.now() + 30_000).toUTCString()) ?? 0));
  });

  for (const text of ['soon', '-5', '1e9', '1.5', '99999999999', ['1', '2'], '']) {
    it(`is ignored if it is neither: ${text}`, () => assert.equal(wait(text), undefined));
  }
});
