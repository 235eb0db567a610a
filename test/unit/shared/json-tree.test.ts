import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { printJsonTree, readJson } from '../../../gateway/shared/json-tree.ts';
import { changeAt, nodeAt } from '../../../gateway/upstream/rules/members.ts';

const printed = (text: string) => {
  const tree = readJson(Buffer.from(text));
  return tree && printJsonTree(tree);
};

test('any JSON comes out as the same value, with or without spaces', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, 1, '\t', '\r\n '), (text, indent) => {
      const spaced = JSON.stringify(JSON.parse(text), null, indent);
      assert.deepEqual(JSON.parse(printed(spaced) ?? ''), JSON.parse(text));
    }),
  );
});

test('scalars come out as they were written', () => {
  for (const text of ['9007199254740993', '1.0', '-0', '1e400', '"\\u0061\\/"', 'null', '"\\\\"', '"\\""'])
    assert.equal(printed(` [ ${text} , { "a" : ${text} } ] `), `[${text},{"a":${text}}]`);
});

test('members of one name, and members with the names of prototypes, are all kept', () => {
  assert.equal(printed('{"a":1,"__proto__":{"a":2},"\\u0061":3}'), '{"a":1,"__proto__":{"a":2},"a":3}');
});

test('bytes that are not JSON in UTF-8, or nested without end, have no tree', () => {
  for (const text of ['', ' ', '{', '[1,]', '{"a":1,}', "{'a':1}", 'NaN', '01', '{} {}', '\ufeff{}', '"\t"'])
    assert.equal(readJson(Buffer.from(text)), undefined, JSON.stringify(text));
  assert.equal(readJson(Buffer.from([0x22, 0xff, 0x22])), undefined);
  assert.ok(readJson(Buffer.from('['.repeat(900) + ']'.repeat(900))));
  for (const depth of [1002, 100_000])
    assert.equal(readJson(Buffer.from('['.repeat(depth) + ']'.repeat(depth))), undefined);
});

test('a path leads through objects, and through lists only where it marks them', () => {
  const tree = readJson(Buffer.from('{"a":{"b":1,"b":2},"c":[{"b":3}]}'));
  assert.ok(tree);
  assert.deepEqual(nodeAt(tree, ['a', 'b']), { kind: 'scalar', value: 2, text: '2' });
  for (const path of [['a', 'c'], ['c', 'b'], ['c', '0'], ['a', 'b', 'x'], ['b']])
    assert.equal(nodeAt(tree, path), undefined, path.join('.'));
  assert.equal(
    changeAt(tree, ['c', 'b'], () => undefined),
    tree,
  );
  assert.equal(
    changeAt(tree, ['a', '*'], () => undefined),
    tree,
  );
  assert.equal(
    printJsonTree(changeAt(tree, ['c', '*', 'b'], () => tree) ?? tree),
    `{"a":{"b":1,"b":2},"c":[{"b":${printJsonTree(tree)}}]}`,
  );
});
