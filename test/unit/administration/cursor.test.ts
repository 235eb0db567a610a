import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createSealedCursors, type SealedCursorsOptions } from '../../../gateway/administration/service/cursor.ts';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import { anyCharacter } from '../../support/characters.ts';

const digestOf = (text: string) => createHmac('sha256', 'pepper').update(text).digest('base64url');

function cursorsOf(query = '', other: Partial<SealedCursorsOptions> = {}) {
  return createSealedCursors({
    digestOf,
    operationId: 'listKeys',
    path: [],
    query: new URLSearchParams(query),
    organization: { id: 'org_a' },
    ...other,
  });
}

const refused = { code: 'invalid_cursor' };

test('a cursor is read as the position that it was made of', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, minLength: 1 }), (position) => {
      const cursor = cursorsOf('state=active').cursorAfter(position);
      assert.match(cursor, /^[\w-]+$/);
      assert.equal(cursorsOf(`state=active&cursor=${cursor}`).position(), position);
    }),
  );
  assert.equal(cursorsOf().position(), undefined);
});

test('another size of the page is no other list', () => {
  const cursor = cursorsOf('limit=2').cursorAfter('key_1');
  assert.equal(cursorsOf(`limit=3&cursor=${cursor}`).position(), 'key_1');
  assert.equal(cursorsOf(`cursor=${cursor}`).position(), 'key_1');
});

test('the order of the filters does not count', () => {
  const cursor = cursorsOf('a=1&b=2').cursorAfter('x');
  assert.equal(cursorsOf(`b=2&cursor=${cursor}&a=1`).position(), 'x');
});

const made = cursorsOf('state=active').cursorAfter('key_1');
for (const [what, query, other] of [
  ['another filter', 'state=revoked', {}],
  ['no filter', '', {}],
  ['a further filter', 'state=active&name=x', {}],
  ['another operation', 'state=active', { operationId: 'listEvents' }],
  ['another organization', 'state=active', { organization: { id: 'org_b' } }],
  ['another path', 'state=active', { path: ['org_b'] }],
  ['another pepper', 'state=active', { digestOf: (text: string) => digestOf(`${text} `) }],
] as const) {
  test(`a cursor is refused with ${what}`, () => {
    assert.throws(() => cursorsOf(`${query}&cursor=${made}`, other).position(), refused);
  });
}

test('every other cursor of a client is refused, with the name of the parameter', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const query = new URLSearchParams({ cursor: text });
      assert.throws(() => cursorsOf('', { query }).position(), refused);
    }),
  );
  const bytes = Buffer.from(made, 'base64url');
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] as number) ^ 1;
    const cursor = changed.toString('base64url');
    assert.throws(
      () => cursorsOf(`state=active&cursor=${cursor}`).position(),
      (error) => error instanceof GatewayError && error.details.fields?.param === 'cursor',
    );
  }
});
