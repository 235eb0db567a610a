import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { requestRules } from '../../../gateway/config/upstreams/rules.ts';
import { mistakesIn } from './rule-file.ts';

describe('rules for requests', () => {
  it('hash members, fill in defaults of any JSON, write path parameters in lower case, or send sets as items', () => {
    const rules = parse(`
      - { operations: [createThing], when: { kind: [box, bag], size: { present: false } }, defaults: { size: { w: [1, null] } } }
      - { operations: [createThing, updateThing], each: true, when: { field: secrets }, hash: [value], defaults: { a: true } }
      - { operations: [updateThing], setAsItems: { fields: [roles, lists], read: getThing, from: data.record } }
      - { operations: [getThing], path: { lowerCase: [name] } }`);
    assert.deepEqual(requestRules.parse(rules), rules);
    assert.deepEqual(requestRules.parse([]), []);
  });

  const rows: readonly (readonly [rule: string, said: RegExp])[] = [
    ['{ hash: [a] }', /^0\.operations: the key "operations" is missing/],
    ['{ operations: [], hash: [a] }', /^0\.operations: .* It must name at least one operation\.$/],
    ['{ operations: [a] }', /^0: .* It must say what to do: hash, defaults, path or setAsItems\.$/],
    ['{ operations: [a], each: true, when: { a: 1 } }', /^0: .* It must say what to do/],
    ['{ operations: [a], path: { lowerCase: [b] }, hash: [c] }', /^0: .* It must have path alone/],
    ['{ operations: [a], path: { lowerCase: [b] }, when: { c: 1 } }', /^0: .* It must have path alone/],
    ['{ operations: [a], path: { lowerCase: [] } }', /^0\.path\.lowerCase: .* It must name at least one parameter\.$/],
    ['{ operations: [a], path: { upperCase: [b] } }', /^0\.path/],
    ['{ operations: [a], setAsItems: { fields: [b], read: c }, hash: [d] }', /^0: .* It must have setAsItems alone/],
    [
      '{ operations: [a], setAsItems: { fields: [b], read: c }, path: { lowerCase: [d] } }',
      /^0: .* It must have path alone/,
    ],
    [
      '{ operations: [a], setAsItems: { fields: [], read: c } }',
      /^0\.setAsItems\.fields: .* It must name at least one field\.$/,
    ],
    ['{ operations: [a], setAsItems: { fields: [b] } }', /^0\.setAsItems\.read: the key "read" is missing/],
    [
      '{ operations: [a], setAsItems: { fields: [b], read: c, from: "d.*" } }',
      /^0\.setAsItems\.from: .* the name of a member/,
    ],
    ['{ operations: [a], hash: [] }', /^0\.hash: .* It must name at least one member\.$/],
    ['{ operations: [a], hash: [a.*] }', /^0\.hash\.0: .* It must be the name of a member/],
    ['{ operations: [a], hahs: [a] }', /^0\.hahs: .* Did you mean "hash"\?/],
    ['{ operations: [a], hash: [a], when: { b: {} } }', /^0\.when\.b: .* It must be a value, a list of values/],
    ['{ operations: [a], hash: [a], each: 1 }', /^0\.each: .* It must be true or false\.$/],
  ];
  for (const [rule, said] of rows) {
    it(`report the place of a mistake: ${rule}`, () => {
      assert.match(mistakesIn(requestRules, `[${rule}]`)[0] ?? '', said);
    });
  }
});
