import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { child, escapeToken, follow, fragmentOf, member, pathOf } from '../../../gateway/contract/pointer.ts';

test('tokens survive being written and read', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (tokens) => {
      assert.deepEqual(pathOf(tokens.map((token) => `/${escapeToken(token)}`).join('')), tokens);
    }),
  );
});

test('references are followed to their target, with the pointer of that place', () => {
  const root = {
    a: { $ref: '#/b/~1x~0y/0' },
    b: { '/x~y': [{ $ref: '#/c%20d' }] },
    'c d': { value: 1 },
  };
  assert.deepEqual(follow(root, { value: root.a, pointer: '/a' }), { value: { value: 1 }, pointer: '/c d' });
  assert.deepEqual(member(root, { value: root, pointer: '' }, 'a').value, { value: 1 });
  assert.deepEqual(child({ value: root, pointer: '' }, 'a'), { value: root.a, pointer: '/a' });
});

test('circles, dangling ends and broken escapes end', () => {
  const root = { a: { $ref: '#/b' }, b: { $ref: '#/a' }, c: { $ref: '#/no/where' }, d: { $ref: '#/%zz' } };
  assert.ok('$ref' in (follow(root, { value: root.a, pointer: '/a' }).value as object));
  assert.equal(follow(root, { value: root.c, pointer: '/c' }).value, undefined);
  assert.equal(follow(root, { value: root.d, pointer: '/d' }).value, undefined);
});

test('a pointer becomes a fragment that a URI can hold', () => {
  assert.equal(fragmentOf('/paths/~1a~1{id}#x/get'), '#/paths/~1a~1%7Bid%7D%23x/get');
});
