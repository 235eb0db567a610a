// Rows of the JSON Schema test suite (draft 2020-12) that OpenAPI tools get wrong: boolean schemas at every place, `$ref` with siblings,
// unevaluated members, conditions. The whole suite was measured with the same harness: docs/decisions/0004-contract-tools.md.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContractOperation } from '../../../gateway/contract/operations/operations.ts';
import { compileDocument, documentOf } from './compiled.ts';

interface Row {
  readonly schema: unknown;
  readonly valid: readonly unknown[];
  readonly invalid: readonly unknown[];
}

const anything = [1, 'foo', true, null, {}, { foo: 'bar' }, [], ['foo']];
/** `then` and `else` as text: an object with a member `then` looks like a promise. */
const choice = (condition: boolean) =>
  JSON.parse(`{"if":${condition},"then":{"const":1},"else":{"const":2}}`) as object;

const rows: Readonly<Record<string, Row>> = {
  true: { schema: true, valid: anything, invalid: [] },
  false: { schema: false, valid: [], invalid: anything },
  'allOf, all true': { schema: { allOf: [true, true] }, valid: ['foo'], invalid: [] },
  'allOf, some false': { schema: { allOf: [true, false] }, valid: [], invalid: ['foo'] },
  'anyOf, some true': { schema: { anyOf: [true, false] }, valid: ['foo'], invalid: [] },
  'anyOf, all false': { schema: { anyOf: [false, false] }, valid: [], invalid: ['foo'] },
  'oneOf, one true': { schema: { oneOf: [true, false, false] }, valid: ['foo'], invalid: [] },
  'oneOf, several true': { schema: { oneOf: [true, true, false] }, valid: [], invalid: ['foo'] },
  'not true': { schema: { not: true }, valid: [], invalid: anything },
  'not false': { schema: { not: false }, valid: anything, invalid: [] },
  'if true': { schema: choice(true), valid: [1], invalid: [2] },
  'if false': { schema: choice(false), valid: [2], invalid: [1] },
  'contains true': { schema: { contains: true }, valid: [['foo']], invalid: [[]] },
  'contains false': { schema: { contains: false }, valid: ['no list'], invalid: [['foo'], []] },
  'items true': { schema: { items: true }, valid: [[1, 'foo', true], []], invalid: [] },
  'items false': { schema: { items: false }, valid: [[]], invalid: [[1, 'foo', true]] },
  prefixItems: { schema: { prefixItems: [true, false] }, valid: [[], [1]], invalid: [[1, 'foo']] },
  'a closed tuple': { schema: { prefixItems: [{}, true], items: false }, valid: [[], [1, 2]], invalid: [[1, 2, 3]] },
  properties: {
    schema: { properties: { foo: true, bar: false } },
    valid: [{}, { foo: 1 }],
    invalid: [{ bar: 2 }, { foo: 1, bar: 2 }],
  },
  patternProperties: {
    schema: { patternProperties: { 'f.*': true, 'b.*': false } },
    valid: [{}, { foo: 1 }],
    invalid: [{ bar: 2 }, { foo: 1, bar: 2 }],
  },
  'propertyNames false': { schema: { propertyNames: false }, valid: [{}], invalid: [{ foo: 1 }] },
  dependentSchemas: {
    schema: { dependentSchemas: { foo: true, bar: false } },
    valid: [{}, { foo: 1 }],
    invalid: [{ bar: 2 }],
  },
  'unevaluatedItems with a nested tuple': {
    schema: {
      prefixItems: [{ type: 'string' }],
      allOf: [{ prefixItems: [true, { type: 'number' }] }],
      unevaluatedItems: false,
    },
    valid: [['foo', 42]],
    invalid: [['foo', 42, true]],
  },
  'unevaluatedProperties with boolean schemas': {
    schema: { type: 'object', properties: { foo: { type: 'string' } }, allOf: [true], unevaluatedProperties: false },
    valid: [{ foo: 'foo' }],
    invalid: [{ bar: 'bar' }],
  },
  'a reference to true': { schema: { $ref: '#/components/schemas/Any' }, valid: anything, invalid: [] },
  'a reference to false': { schema: { $ref: '#/components/schemas/None' }, valid: [], invalid: anything },
  'a reference with siblings': {
    schema: { properties: { foo: { $ref: '#/components/schemas/List', maxItems: 2 } } },
    valid: [{ foo: [] }],
    invalid: [{ foo: [1, 2, 3] }, { foo: 'string' }],
  },
};

const bodies = Object.values(rows).map(({ schema }, index) => {
  const requestBody = { content: { 'application/json': { schema } } };
  return [`/${index}`, { post: { requestBody, responses: { 200: { description: 'fine' } } } }];
});
const schemas = { Any: true, None: false, List: { type: 'array' } };
const compiled = await compileDocument(documentOf(Object.fromEntries(bodies), { components: { schemas } }));
assert.deepEqual(compiled.mistakes, []);

for (const [index, [name, { valid, invalid }]] of Object.entries(rows).entries()) {
  test(`the JSON Schema suite and the gateway agree: ${name}`, () => {
    const entry = compiled.operations[index] as ContractOperation;
    const check = compiled.schemas.request(entry).bodies.get('application/json');
    for (const value of valid) assert.equal(check?.(value, 0).length, 0, JSON.stringify(value));
    for (const value of invalid) assert.notEqual(check?.(value, 0).length, 0, JSON.stringify(value));
  });
}
