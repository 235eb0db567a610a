import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import { expectBody, isUnexpected, readBody } from '../../../gateway/contract/body.ts';
import type { Admitted } from '../../../gateway/exchange/exchange.ts';

const json = { required: true, mediaTypes: ['application/json', 'image/*'] };

/** The declared media type, or the code of the refusal. */
function expected(headers: Record<string, string>, contract = json, method = 'POST', hasBody = true): unknown {
  const admitted = { method, hasBody, headers: new Map(Object.entries(headers)) };
  try {
    return expectBody(admitted as unknown as Admitted, contract, 100);
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return error;
  }
}
const codeOf = (outcome: unknown) => (outcome as GatewayError).code;

test('a body falls under a declared type or range', () => {
  for (const [type, declared] of [
    ['application/json', 'application/json'],
    ['Application/JSON ; charset=utf-8', 'application/json'],
    ['application/json;charset="UTF-8"', 'application/json'],
    ['image/png', 'image/*'],
  ] as const)
    assert.equal(expected({ 'content-type': type }), declared, type);
});

test('a body of another type, charset or coding is refused before it is read', () => {
  assert.equal(codeOf(expected({ 'content-type': 'text/plain' })), 'unsupported_media_type');
  assert.equal(codeOf(expected({})), 'unsupported_media_type');
  assert.equal(codeOf(expected({ 'content-type': 'application/json; charset=latin1' })), 'unsupported_charset');
  assert.equal(
    codeOf(expected({ 'content-type': 'application/json', 'content-encoding': 'gzip' })),
    'unsupported_content_encoding',
  );
  assert.equal(expected({ 'content-type': 'application/json', 'content-encoding': 'identity' }), 'application/json');
});

test('accepted types are named in the header for the method', () => {
  const accepted = 'application/json, image/*';
  assert.deepEqual((expected({}) as GatewayError).details.headers, { Accept: accepted });
  assert.deepEqual((expected({}, json, 'PATCH') as GatewayError).details.headers, { 'Accept-Patch': accepted });
});

test('a body that is too long is refused by its declared length', () => {
  assert.equal(codeOf(expected({ 'content-type': 'application/json', 'content-length': '101' })), 'body_too_large');
  assert.equal(expected({ 'content-type': 'application/json', 'content-length': '100' }), 'application/json');
});

test('a missing body is refused if there has to be one, a needless one is not to be read', () => {
  assert.equal(codeOf(expected({}, json, 'POST', false)), 'body_missing');
  assert.equal(expected({}, { ...json, required: false }, 'POST', false), undefined);
  const none = { required: false, mediaTypes: [] };
  assert.equal(expected({ 'content-type': 'application/json' }, none), undefined);
  assert.ok(isUnexpected({ hasBody: true }, none));
  assert.ok(!isUnexpected({ hasBody: false }, none) && !isUnexpected({ hasBody: true }, json));
});

/** Reads a body of these chunks; `held` gets the counted bytes. */
function read(chunks: readonly Buffer[], max: number, hold: (bytes: number) => void = () => undefined) {
  const request = Readable.from(chunks);
  const arrived = { request, state: { load: undefined, bytesHeld: 0 } } as unknown as Admitted;
  return readBody(arrived, max, (_reservation, bytes) => hold(bytes));
}

test('a body is read to its limit and not further', async () => {
  const chunks = (...texts: string[]) => texts.map((text) => Buffer.from(text));
  assert.equal((await read(chunks('ab', 'cd'), 4)).toString(), 'abcd');
  assert.equal((await read(chunks('ab'), 4)).toString(), 'ab');
  await assert.rejects(read(chunks('ab', 'cde', 'f'), 4), { code: 'body_too_large' });
});

test('all bytes of a body that is not small are counted as they come, those of small ones never', async () => {
  const counted: number[] = [];
  const count = (bytes: number) => void counted.push(bytes);
  await read([Buffer.alloc(4096)], 10_000, count);
  assert.deepEqual(counted, []);
  const body = await read([Buffer.alloc(4000), Buffer.alloc(3000), Buffer.alloc(10)], 10_000, count);
  assert.deepEqual([body.length, counted], [7010, [7000, 10]]);
});

test('a body that is more than may be held is not read any further', async () => {
  let told = 0;
  const refusal = new GatewayError('gateway_overloaded');
  const reading = read([Buffer.alloc(5000), Buffer.alloc(5000), Buffer.alloc(5000)], 20_000, () => {
    told += 1;
    if (told === 2) throw refusal;
  });
  await assert.rejects(reading, refusal);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(told, 2);
});
