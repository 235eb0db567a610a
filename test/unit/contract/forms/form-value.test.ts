import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFormChecks } from '../../../../gateway/contract/forms/forms.ts';
import type { ContractOperation } from '../../../../gateway/contract/operations/operations.ts';
import { compileDocument, documentOf } from '../compiled.ts';

const type = 'application/x-www-form-urlencoded';
const limits = { jsonDepthMax: 32, jsonMembersMax: 1000, bodyBytesMax: 1_000_000 };

/** Returns the violations of forms of one schema. */
async function formsOf(schema: object, components: object = {}): Promise<(body: string) => string[]> {
  const requestBody = { content: { [type]: { schema } } };
  const paths = { '/forms': { post: { requestBody, responses: { 200: { description: 'fine' } } } } };
  const { operations, schemas, mistakes } = await compileDocument(documentOf(paths, { components }));
  assert.deepEqual(mistakes, []);
  const entry = operations[0] as ContractOperation;
  const check = createFormChecks(entry, schemas.request(entry))?.(type, type);
  return (body) =>
    (check?.violations(Buffer.from(body), type, limits) ?? []).map(({ pointer, code }) => `${pointer} ${code}`);
}

test('names of prototypes are names', async () => {
  const closed = await formsOf({ type: 'object', additionalProperties: false, properties: { a: { type: 'object' } } });
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
    assert.deepEqual(closed(`${name}=1`), [`/${name} unknown`]);
  assert.deepEqual(closed('__proto__[x]=1'), ['/__proto__[x] unknown']);
  assert.deepEqual(closed('a[__proto__][x]=1&a[constructor][prototype][x]=1'), []);
  assert.equal(({} as Record<string, unknown>).x, undefined);
});

test('circular schemas have a type at every depth', async () => {
  const node = {
    type: 'object',
    additionalProperties: false,
    properties: { size: { type: 'integer' }, next: { $ref: '#/components/schemas/Node' } },
  };
  const check = await formsOf({ $ref: '#/components/schemas/Node' }, { schemas: { Node: node } });
  assert.deepEqual(check('size=1&next[size]=2&next[next][next][size]=3'), []);
  assert.deepEqual(check('next[next][next][size]=x'), ['/next/next/next/size wrong_type']);
});

test('members named by a pattern have their types', async () => {
  const check = await formsOf({
    type: 'object',
    patternProperties: { '^n_': { type: 'integer' } },
    additionalProperties: { type: 'boolean' },
  });
  assert.deepEqual(check('n_a=1&b=true'), []);
  assert.deepEqual(check('n_a=x&b=1'), ['/b wrong_type', '/n_a wrong_type']);
});

test('a form with many members is refused, and time is linear', async () => {
  const check = await formsOf({ type: 'object', properties: { a: { type: 'array', items: { type: 'integer' } } } });
  assert.deepEqual(check('a=1&'.repeat(900)), []);
  for (const body of [
    'a=1&'.repeat(1001),
    'x=1&'.repeat(1001),
    `${Array.from({ length: 1001 }, (_, i) => `x${i}=1`).join('&')}`,
  ])
    assert.throws(() => check(body), { code: 'json_too_complex' });
  assert.throws(() => check(`a${'[b]'.repeat(32)}=1`), { code: 'json_too_complex' });
});

test('no form breaks the reading', async () => {
  const check = await formsOf({
    type: 'object',
    properties: {
      a: {
        anyOf: [
          { type: 'array', items: { type: 'object' } },
          { type: 'object' },
          { type: 'integer' },
          { type: 'string' },
        ],
      },
      b: { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
      c: {},
    },
  });
  const word = fc.constantFrom(
    'a',
    'b',
    'c',
    '[',
    ']',
    '[]',
    '[0]',
    '[1]',
    '[a]',
    '=',
    '&',
    '1',
    '{}',
    '[1]',
    '+',
    '__proto__',
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 20 }), (words) => {
      for (const violation of check(words.join(''))) assert.match(violation, /^(\/.*)? [a-z_]+$/);
    }),
    { numRuns: 3000 },
  );
});
