// Two requests have one fingerprint if a server could not distinguish them, and two if it might.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Checked } from '../../../gateway/exchange/exchange.ts';
import { digestOf, fingerprintOf } from '../../../gateway/replay/fingerprint.ts';
import { operationFor } from '../contract/operations.ts';

interface Sent {
  readonly operation?: string;
  readonly path?: string;
  readonly search?: string;
  readonly mediaType?: string;
  readonly body?: Buffer | undefined;
  readonly key?: string;
}

/** The parts that a fingerprint reads. */
function of({ operation = '/v1/things', path = '/v1/things', search = '', mediaType, body, key = 'k' }: Sent): string {
  const headers = new Map(mediaType === undefined ? [] : [['content-type', mediaType]]);
  const checked = { operation: operationFor('POST', operation), path, search, headers, rawBody: body };
  return fingerprintOf(checked as unknown as Checked, key, undefined);
}

test('the order of names in a query means nothing, the order of values of one name may', () => {
  assert.equal(of({ search: '?a=1&b=2' }), of({ search: '?b=2&a=1' }));
  assert.equal(of({ search: '?a=1&b=x%20y' }), of({ search: '?b=x+y&a=1' }), 'and a space is a space');
  assert.notEqual(of({ search: '?a=1&a=2' }), of({ search: '?a=2&a=1' }));
});

test('parameters and case of a media type mean nothing, the type does', () => {
  assert.equal(of({ mediaType: 'application/json' }), of({ mediaType: 'Application/JSON ; charset=utf-8' }));
  assert.notEqual(of({ mediaType: 'application/json' }), of({ mediaType: 'application/vnd.a+json' }));
  assert.notEqual(of({ mediaType: 'application/json' }), of({}));
});

test('every byte of the body counts', () => {
  assert.notEqual(of({ body: Buffer.from('{"n":1}') }), of({ body: Buffer.from('{"n":1.0}') }));
  assert.notEqual(of({ body: Buffer.from('{}') }), of({ body: Buffer.from('{} ') }));
});

test('without the key, the request cannot be guessed from its fingerprint', () => {
  const body = Buffer.from('{"password":"a"}');
  assert.notEqual(of({ body, key: 'one' }), of({ body, key: 'other' }));
});

test('nothing can be moved from one part to another', () => {
  const part = fc.constantFrom('', 'a', '/', '"', ',', '\n', 'a"]\n', '["a"');
  const sent = fc.record({ operation: part, path: part, mediaType: part, body: part.map((text) => Buffer.from(text)) });
  const normal = ({ operation, path, mediaType, body }: { [name in keyof Sent]: unknown }) =>
    JSON.stringify([operation, path, String(mediaType).split(';')[0]?.trim().toLowerCase(), String(body)]);
  fc.assert(
    fc.property(sent, sent, (one, other) => {
      assert.equal(of(one) === of(other), normal(one) === normal(other));
    }),
  );
});

test('a key is not in its digest', () => {
  assert.match(digestOf('8e03978e'), /^[\w-]{43}$/);
  assert.notEqual(digestOf('8e03978e'), digestOf('8e03978f'));
});
