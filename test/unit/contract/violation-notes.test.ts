// The note of a violation contains only names of the contract.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { declaredNames, toNotes } from '../../../gateway/contract/violations/violation-notes.ts';
import type { Violation } from '../../../gateway/contract/violations/violations.ts';
import { compileDocument, documentOf } from './compiled.ts';

const document = documentOf(
  {
    '/things': {
      post: {
        parameters: [
          { name: 'filter', in: 'query', schema: { type: 'object', properties: { status: { type: 'string' } } } },
          { name: 'X-Kind', in: 'header', schema: { type: 'string', enum: ['named'] } },
        ],
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } },
        responses: { 200: { description: 'x' } },
      },
    },
  },
  {
    components: {
      schemas: {
        Thing: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            parent: { $ref: '#/components/schemas/Thing' },
            more: { type: 'object' },
          },
          example: { properties: { exampled: 1 } },
        },
      },
    },
  },
);

const names = async () => declaredNames((await compileDocument(document, { public: true })).operations[0] as never)();
const violation = (more: Partial<Violation>): Violation => ({
  in: 'body',
  param: '',
  code: 'invalid',
  message: 'y',
  ...more,
});

it('names parameters, and members of bodies through references that run in circles', async () => {
  const known = await names();
  for (const name of ['filter', 'status', 'X-Kind', 'x-kind', 'name', 'parent', 'more'])
    assert.ok(known.has(name), name);
  for (const name of ['exampled', 'named']) assert.ok(!known.has(name), name);
});

it('shows a star in place of every other name', async () => {
  const known = await names();
  const shown = (more: Partial<Violation>) => toNotes([violation(more)], known)[0]?.param;
  assert.equal(shown({ pointer: '/parent/0/name', param: 'parent[0].name' }), '/parent/0/name');
  assert.equal(shown({ pointer: '/more/secret~1name', param: 'more.secret/name' }), '/more/*');
  assert.equal(shown({ in: 'query', param: 'filter.status' }), 'filter.status');
  assert.equal(shown({ in: 'query', param: 'filter.secret' }), 'filter.*');
  assert.equal(shown({ in: 'query', param: 'secret' }), '*');
});

it('is bounded in number and length, and leaves messages out', () => {
  const many = toNotes(
    Array.from({ length: 50 }, () => violation({ constraint: { enum: Array(500).fill('a') } })),
    new Set(),
  );
  assert.equal(many.length, 20);
  assert.deepEqual(many[0], { in: 'body', param: '', code: 'invalid', constraint: undefined });
});
