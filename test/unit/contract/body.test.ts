import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { expectBody, readBody } from '../../../gateway/contract/body.ts';
import { GatewayError } from '../../../gateway/errors.ts';
import type { Admitted } from '../../../gateway/exchange.ts';

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

test('what would be accepted is told under the name for the method', () => {
  const accepted = 'application/json, image/*';
  assert.deepEqual((expected({}) as GatewayError).details.headers, { Accept: accepted });
  assert.deepEqual((expected({}, json, 'PATCH') as GatewayError).details.headers, { 'Accept-Patch': accepted });
});

test('a body that is too long is refused by what it says of itself', () => {
  assert.equal(codeOf(expected({ 'content-type': 'application/json', 'content-length': '101' })), 'body_too_large');
  assert.equal(expected({ 'content-type': 'application/json', 'content-length': '100' }), 'application/json');
});

test('a missing body is refused if there has to be one, a needless one always', () => {
  assert.equal(codeOf(expected({}, json, 'POST', false)), 'body_missing');
  assert.equal(expected({}, { ...json, required: false }, 'POST', false), undefined);
  const needless = expected({ 'content-type': 'application/json' }, { required: false, mediaTypes: [] });
  assert.equal(codeOf(needless), 'validation_failed');
});

test('a body is read to its limit and not further', async () => {
  const read = (chunks: string[], max: number) =>
    readBody(Readable.from(chunks.map((chunk) => Buffer.from(chunk))) as IncomingMessage, max);
  assert.equal((await read(['ab', 'cd'], 4)).toString(), 'abcd');
  assert.equal((await read(['ab'], 4)).toString(), 'ab');
  await assert.rejects(read(['ab', 'cde', 'f'], 4), { code: 'body_too_large' });
});
