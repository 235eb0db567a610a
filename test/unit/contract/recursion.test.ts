import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRecursion } from '../../../gateway/contract/schemas/recursion.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const isRecursive = createRecursion({
  components: {
    schemas: {
      Name: { type: 'string' },
      Person: { type: 'object', properties: { name: ref('Name') } },
      Node: { anyOf: [ref('Leaf'), ref('Branch')] },
      Leaf: { type: 'object', properties: { name: ref('Name') } },
      Branch: { type: 'object', properties: { children: { type: 'array', items: ref('Node') } } },
      Forest: { type: 'array', items: ref('Node') },
      Inner: { type: 'object', properties: { again: ref('Inner/properties/again/x'), within: ref('Inner') } },
      'a/b': { properties: { c: { $ref: '#/components/schemas/a~1b' } } },
    },
  },
});

for (const [name, expected] of [
  ['Name', false],
  ['Person', false],
  ['Leaf', false],
  ['Forest', false],
  ['Missing', false],
  ['Node', true],
  ['Branch', true],
  ['Inner', true],
  ['Inner/properties/within', true],
  ['a~1b', true],
] as const) {
  test(`${name} ${expected ? 'refers' : 'does not refer'} to itself`, () => {
    assert.equal(isRecursive(`#/components/schemas/${name}`), expected);
    assert.equal(
      isRecursive(`contract#/components/schemas/${encodeURIComponent(name)}`.replaceAll('%2F', '/')),
      expected,
    );
  });
}
