// Refusals about the content of a request.

import assert from 'node:assert/strict';
import type { RefusalCase } from '../../support/errors.ts';
import type { World } from '../../support/world.ts';

type Case = RefusalCase<World>;

const json = { 'Content-Type': 'application/json' };
const create = (world: World, body: string | Buffer, headers: object = {}) =>
  world.call('POST /v1/things', { ...json, ...headers }, body);
const good = '{"name":"a"}';

const negotiation: readonly Case[] = [
  {
    name: 'a body of another media type',
    code: 'unsupported_media_type',
    provoke: (world) => create(world, good, { 'Content-Type': 'text/plain' }),
    also({ headers, error }) {
      assert.equal(headers.accept, 'application/json');
      assert.match(String(error.message), / It accepts application\/json\.$/);
    },
  },
  {
    name: 'a body of no media type',
    code: 'unsupported_media_type',
    provoke: (world) => create(world, good, { 'Content-Type': undefined }),
    also: ({ headers }) => assert.equal(headers.accept, 'application/json'),
  },
  {
    name: 'a PATCH of another media type',
    code: 'unsupported_media_type',
    provoke: ({ call }) => call('PATCH /v1/things/1', { 'Content-Type': 'text/plain' }, '{}'),
    also: ({ headers }) => assert.equal(headers['accept-patch'], 'application/json'),
  },
  {
    name: 'a charset that is not UTF-8',
    code: 'unsupported_charset',
    provoke: (world) => create(world, good, { 'Content-Type': 'application/json; charset=iso-8859-1' }),
  },
  {
    name: 'a compressed body',
    code: 'unsupported_content_encoding',
    provoke: (world) => create(world, good, { 'Content-Encoding': 'gzip' }),
    also: ({ headers }) => assert.equal(headers['accept-encoding'], 'identity'),
  },
  ...['text/html', 'application/json;q=0', 'text/*, image/png'].map(
    (accept): Case => ({
      name: `Accept: ${accept}`,
      code: 'not_acceptable',
      // Elsewhere answers of other media types pass, so the service decides about Accept.
      provoke: ({ call }) => call('GET /v1/strict', { Accept: accept }),
      also: ({ error }) => assert.deepEqual(error.available_media_types, ['application/json']),
    }),
  ),
];

/** A string that looks like a key, put together here so that scanners do not take it for one. */
const misplaced = `sk_test_${'a1'.repeat(19)}`;

const texts: readonly Case[] = [
  ...(
    [
      ['broken JSON', '{"name":', 8],
      ['data behind the JSON', `${good} {}`, good.length + 1],
      ['a comment in the JSON', '{"name":"ä"/**/}', 12],
      ['JSON that is not UTF-8', Buffer.from('{"name":"\xe4"}', 'latin1'), 9],
      ['half a surrogate in UTF-8', Buffer.from([...Buffer.from('{"name":"'), 0xed, 0xa0, 0x80, 0x22, 0x7d]), 9],
      ['a byte order mark', `\ufeff${good}`, 0],
    ] as const
  ).map(
    ([name, body, offset]): Case => ({
      name,
      code: 'malformed_json',
      provoke: (world) => create(world, body),
      also: ({ error }) => assert.equal(error.byte_offset, offset),
    }),
  ),
  {
    name: 'a form that could be read in two ways',
    code: 'malformed_form',
    provoke: ({ call }) => call('POST /v1/files', { 'Content-Type': 'multipart/form-data; boundary=a' }, '--a\n--a--'),
    also: ({ error }) => assert.equal(error.byte_offset, 3),
  },
  ...Object.entries({
    'one member twice': '{"name":"a","name":"b"}',
    'one member twice, deep inside': '{"name":"a","more":{"x":[{"y":1,"y":1}]}}',
    'one member twice, once escaped': '{"name":"a","more":{"a":1,"\\u0061":2}}',
    '__proto__ twice': '{"name":"a","more":{"__proto__":{},"__proto__":{}}}',
  }).map(([name, body]): Case => ({ name, code: 'duplicate_json_member', provoke: (world) => create(world, body) })),
  {
    name: 'deep nesting',
    code: 'json_too_complex',
    provoke: (world) => create(world, `{"name":"a","more":${'['.repeat(40)}${']'.repeat(40)}}`),
    also: ({ error }) => assert.equal(error.max_depth, 32),
  },
  {
    name: 'more members than there may be',
    code: 'json_too_complex',
    provoke: (world) => create(world, `{"name":"a","more":{"x":[${'0,'.repeat(10_000)}0]}}`),
    also: ({ error }) => assert.equal(error.max_members, 10_000),
  },
  {
    name: 'a text that takes too many steps to compare with its pattern',
    code: 'request_too_complex',
    provoke: (world) => create(world, `{"name":"a","code":"${'a'.repeat(200_000)}"}`),
  },
];

const presence: readonly Case[] = [
  { name: 'no body where one is required', code: 'body_missing', provoke: ({ call }) => call('POST /v1/things', json) },
  { name: 'an empty body', code: 'body_missing', provoke: (world) => create(world, '') },
  {
    name: 'an empty body in chunks',
    code: 'body_missing',
    provoke: (world) => create(world, '0\r\n\r\n', { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' }),
  },
  {
    name: 'a body on GET',
    code: 'validation_failed',
    provoke: ({ call }) => call('GET /v1/things', json, '{}'),
    also({ error }) {
      const [first] = error.errors as { in: string; code: string }[];
      assert.deepEqual([first?.in, first?.code], ['body', 'unknown']);
    },
  },
  {
    name: 'a key in the place of a name, which is not repeated',
    code: 'validation_failed',
    provoke: ({ call }) => call(`POST /v1/things?${misplaced}=1`, json, `{"name":"a","${misplaced}":1}`),
    also({ error }) {
      assert.doesNotMatch(JSON.stringify(error), new RegExp(misplaced));
      const places = (error.errors as { pointer?: string; param: string }[]).map((it) => it.pointer ?? it.param);
      assert.deepEqual([error.param, ...places], ['sk_test_…', 'sk_test_…', '/sk_test_…']);
    },
  },
  {
    name: 'a body on GET and a query against the contract at once',
    code: 'validation_failed',
    provoke: ({ call }) => call('GET /v1/things?x=1', json, '{}'),
    also({ error }) {
      const places = (error.errors as { in: string; param: string }[]).map((it) => `${it.in} ${it.param}`);
      assert.deepEqual(places, ['query x', 'body ']);
    },
  },
  {
    name: 'query and body against the contract at once',
    code: 'validation_failed',
    provoke: ({ call }) => call('POST /v1/things?x=1', json, '{"name":1,"other":true}'),
    also({ error }) {
      const places = (error.errors as { in: string; pointer?: string; param: string }[]).map(
        (violation) => violation.pointer ?? `${violation.in} ${violation.param}`,
      );
      assert.deepEqual(places.sort(), ['/name', '/other', 'query x']);
    },
  },
];

const order = (world: World, keys: readonly string[]) =>
  world.call('POST /v1/orders', { ...json, 'Idempotency-Key': keys }, good);

const idempotency: readonly Case[] = [
  {
    name: 'no Idempotency-Key where one is required',
    code: 'idempotency_key_missing',
    provoke: (world) => order(world, []),
  },
  ...Object.entries({
    'an Idempotency-Key that is too long': 'k'.repeat(256),
    'an Idempotency-Key with a space': 'a b',
    'an Idempotency-Key outside of ASCII': '\xe4',
    'an empty Idempotency-Key': '',
    'an Idempotency-Key of two quotes': '""',
    'an Idempotency-Key that loses its second quote': '"a',
  }).map(([name, key]): Case => ({ name, code: 'idempotency_key_malformed', provoke: (world) => order(world, [key]) })),
  {
    name: 'two Idempotency-Keys',
    code: 'idempotency_key_malformed',
    provoke: (world) => order(world, ['a', 'b']),
  },
];

export const contentCases: readonly Case[] = [...negotiation, ...texts, ...presence, ...idempotency];
