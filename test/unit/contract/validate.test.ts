import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import { createValidate } from '../../../gateway/contract/validate.ts';
import type { Checked, Counted } from '../../../gateway/exchange/exchange.ts';
import { compileDocument, documentOf } from './compiled.ts';

const responses = { 201: { description: 'x', content: { 'application/json': {} } } };
const requestBody = { content: { 'application/json': {}, 'text/csv': {} } };
const document = documentOf({
  '/free': { post: { operationId: 'free', requestBody, responses } },
  '/keyed': { post: { operationId: 'keyed', requestBody, responses, 'x-gateway-idempotency': 'required' } },
  '/json': { post: { operationId: 'json', responses, 'x-gateway-undeclared-media-types': 'refuse' } },
  '/read': { get: { operationId: 'read', responses } },
});
const { operations, schemas } = await compileDocument(document);
const validate = createValidate({
  operations,
  schemas,
  bodyBytesMax: 1000,
  jsonDepthMax: 5,
  jsonMembersMax: 100,
  hold: () => undefined,
});

/** The forwarded request, or the code of the refusal. */
async function outcome(id: string, headers: Record<string, string>, body?: string): Promise<Checked | string> {
  const operation = operations.find((entry) => entry.operation.id === id)?.operation;
  const counted = {
    ...{ operation, pathValues: [], query: '', hasBody: body !== undefined, trail: {} },
    headers: new Map(Object.entries(headers)),
    request: Readable.from([Buffer.from(body ?? '')]) as IncomingMessage,
  };
  try {
    return await validate(counted as unknown as Counted);
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return error.code;
  }
}

test('an idempotency key is quoted or bare, visible, and of bounded length', async () => {
  for (const key of ['a', '"a"', 'x'.repeat(255), '8e03978e-40d5-43e8-bc93-6894a57f9324'])
    assert.equal(typeof (await outcome('free', { 'idempotency-key': key })), 'object', key);
  for (const key of ['', '""', 'a b', 'é', 'x'.repeat(256), '"a" "b"'])
    assert.equal(await outcome('free', { 'idempotency-key': key }), 'idempotency_key_malformed', key);
});

test('an idempotency key is required where the contract requires it, and ignored where it means nothing', async () => {
  assert.equal(await outcome('keyed', {}), 'idempotency_key_missing');
  assert.equal(typeof (await outcome('keyed', { 'idempotency-key': 'a' })), 'object');
  assert.equal(typeof (await outcome('read', { 'idempotency-key': 'not a key' })), 'object');
});

test('JSON is read by the rules even where the contract has no schema for it', async () => {
  const send = (body: string) => outcome('free', { 'content-type': 'application/json' }, body);
  assert.equal(await send('{'), 'malformed_json');
  assert.equal(await send('{"a":1,"a":2}'), 'duplicate_json_member');
  assert.equal(await send('[[[[[[]]]]]]'), 'json_too_complex');
  assert.equal(((await send('{ "a" : 1 }')) as Checked).rawBody?.toString(), '{ "a" : 1 }');
});

test('other media types pass as they are', async () => {
  assert.equal(((await outcome('free', { 'content-type': 'text/csv' }, '{')) as Checked).rawBody?.toString(), '{');
});

test('Accept is checked against the declared types, unless answers of other types pass', async () => {
  assert.equal(await outcome('json', { accept: 'text/html' }), 'not_acceptable');
  assert.equal(typeof (await outcome('json', { accept: 'application/json' })), 'object');
  assert.equal(typeof (await outcome('free', { accept: 'text/html' })), 'object');
});
