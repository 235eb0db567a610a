// Every declared answer is made valid: of the shipped contracts, of documents of others, and of schemas that are hard to satisfy.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadSettings } from '../../../gateway/config/settings.ts';
import { loadConfiguration } from '../../../gateway/configuration.ts';
import { valueOrNone } from '../../../gateway/contract/examples/answers.ts';
import { contentOf, declaredAnswer, statusesOf } from '../../../gateway/contract/examples/declared.ts';
import { checkFor } from '../../../gateway/contract/examples/values.ts';
import type { ContractOperation } from '../../../gateway/contract/operations/operations.ts';
import type { Schemas } from '../../../gateway/contract/schemas/schemas.ts';
import { clusterDocument } from '../../flow/contract/cluster-document.ts';
import { foreignDocument } from '../../flow/contract/foreign-document.ts';
import { paymentsDocument } from '../../flow/contract/payments-document.ts';
import { trackerDocument } from '../../flow/contract/tracker-document.ts';
import { compileDocument, documentOf } from './compiled.ts';

interface Tried {
  readonly answer: string;
  readonly value: unknown;
  readonly isValid: boolean;
}

/** One value per declared answer and media type. */
function everyValue(operations: readonly ContractOperation[], schemas: Schemas): Tried[] {
  return operations.flatMap((entry) =>
    statusesOf(entry).flatMap((status) => {
      const answer = declaredAnswer(entry, status);
      assert.ok(answer);
      return [...contentOf(answer)].map(([type, mediaType]) => {
        const made = valueOrNone({ answer, type, mediaType, example: undefined, schemas });
        const errors = made === undefined ? undefined : (checkFor({ answer, type, schemas })?.(made.value, 0) ?? []);
        return { answer: `${entry.operation.id} ${status} ${type}`, value: made?.value, isValid: errors?.length === 0 };
      });
    }),
  );
}

const invalid = (tried: readonly Tried[]) => tried.filter(({ isValid }) => !isValid).map(({ answer }) => answer);

/** Its paths follow one pattern. */
const fewKinds = { ...clusterDocument, paths: Object.fromEntries(Object.entries(clusterDocument.paths).slice(0, 5)) };

/** Leaves out the written examples, so that all values are made from schemas. */
function withoutExamples(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutExamples);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name, below]) => !/^examples?$/.test(name) || 'type' in Object(below));
  return Object.fromEntries(kept.map(([name, below]) => [name, withoutExamples(below)]));
}

describe('the values of declared answers', () => {
  const shipped = loadConfiguration(loadSettings({}), {});

  it('are valid in the shipped contracts', async () => {
    const { contracts } = await shipped;
    const tried = everyValue(contracts.operations, contracts.schemas);
    assert.ok(tried.length > 100);
    assert.deepEqual(invalid(tried), []);
  });

  it('are valid in the shipped contracts without their examples', async () => {
    const { contracts } = await shipped;
    for (const { root } of contracts.documents) {
      const { 'x-gateway-upstream': _, ...document } = withoutExamples(root) as Record<string, unknown>;
      const { operations, schemas, mistakes } = await compileDocument(document);
      assert.deepEqual(mistakes, []);
      assert.deepEqual(invalid(everyValue(operations, schemas)), []);
    }
  });

  for (const [name, document] of Object.entries({
    clusterDocument: fewKinds,
    foreignDocument,
    paymentsDocument,
    trackerDocument,
  })) {
    it(`are valid in ${name}, with its examples and without`, async () => {
      for (const variant of [document, withoutExamples(document) as object]) {
        const { operations, schemas } = await compileDocument(variant);
        assert.deepEqual(invalid(everyValue(operations, schemas)), []);
      }
    });
  }
});

const text = { type: 'string' };
const hard: Record<string, object> = {
  allOf: {
    allOf: [
      { type: 'object', required: ['a'], properties: { a: text }, example: { a: 'x' } },
      { type: 'object', required: ['b'], properties: { b: { type: 'integer', minimum: 5 } } },
    ],
  },
  union: {
    type: 'object',
    required: ['kind'],
    properties: { kind: text },
    oneOf: [
      { properties: { kind: { const: 'card' }, number: text }, required: ['number'] },
      { properties: { kind: { const: 'bank' }, iban: text }, required: ['iban'] },
    ],
  },
  closed: {
    type: 'object',
    additionalProperties: false,
    required: ['id'],
    properties: { id: { ...text, pattern: '^cus_[a-z0-9]{10}$' }, mail: { type: ['string', 'null'], format: 'email' } },
  },
  map: { type: 'object', additionalProperties: { type: 'integer', multipleOf: 7, minimum: 10 } },
  named: { type: 'object', minProperties: 3, additionalProperties: text, propertyNames: { pattern: '^[a-z]{3}\\d+$' } },
  prefixed: {
    type: 'object',
    minProperties: 2,
    patternProperties: { '^x-': { type: 'integer' } },
    additionalProperties: false,
  },
  few: { type: 'object', maxProperties: 1, properties: { a: text, b: text } },
  distinct: {
    type: 'array',
    minItems: 4,
    uniqueItems: true,
    items: { type: 'object', required: ['id'], properties: { id: text } },
  },
  choices: { type: 'array', minItems: 3, uniqueItems: true, items: { enum: ['a', 'b', 'c'] } },
  tuple: { type: 'array', prefixItems: [text, { type: 'integer' }], items: false, minItems: 2 },
  contains: { type: 'array', contains: { const: 5 }, items: { type: 'integer' }, minItems: 2 },
  lookAhead: { ...text, pattern: '^(?=.*\\d)(?=.*[A-Z])[A-Za-z0-9]{8,12}$' },
  reference: { ...text, pattern: '^(foo|bar)-(\\w+)-\\2$' },
  foreign: { ...text, pattern: '^[\\u4e00-\\u9fff]{2,}$' },
  long: { ...text, pattern: '^[^a-z]+$', minLength: 20, maxLength: 24 },
  dated: { ...text, pattern: '^\\d{4}-\\d{2}-\\d{2}$', format: 'date' },
  conditional: {
    type: 'object',
    required: ['kind'],
    properties: { kind: { enum: ['x', 'y'] }, value: { type: 'integer' } },
    if: { properties: { kind: { const: 'x' } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: { required: ['value'] },
  },
  dependent: { type: 'object', properties: { a: text, b: text }, dependentRequired: { a: ['b'] } },
  excluded: { type: 'object', properties: { a: text, b: text }, not: { required: ['a', 'b'] } },
  tree: { $ref: '#/components/schemas/Tree' },
  chain: { $ref: '#/components/schemas/Chain' },
  unevaluated: {
    allOf: [{ properties: { a: text } }],
    properties: { b: text },
    required: ['a'],
    unevaluatedProperties: false,
  },
  written: {
    type: 'object',
    required: ['id', 'password'],
    properties: { id: text, password: { ...text, writeOnly: true } },
  },
  nothing: { type: ['object', 'null'], required: ['a'], properties: { a: { type: ['null', 'integer'] } } },
  between: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
  aligned: { type: 'number', multipleOf: 0.01, minimum: 3.256 },
  negative: { type: 'integer', minimum: -5, maximum: -2 },
  misled: {
    type: 'object',
    required: ['a'],
    properties: { a: { ...text, example: 5 } },
    additionalProperties: false,
    example: { b: 1 },
  },
  chosen: { oneOf: [{ $ref: '#/components/schemas/Tree' }, { $ref: '#/components/schemas/Chain' }] },
  anything: {},
};
const formats = [
  'date-time',
  'date',
  'time',
  'duration',
  'email',
  'uuid',
  'uri',
  'url',
  'uri-reference',
  'uri-template',
];
const moreFormats = [
  'hostname',
  'ipv4',
  'ipv6',
  'regex',
  'json-pointer',
  'relative-json-pointer',
  'byte',
  'binary',
  'password',
];
for (const format of [...formats, ...moreFormats]) hard[`format ${format}`] = { ...text, format, minLength: 2 };
const impossible: Readonly<Record<string, object>> = {
  bounds: { ...text, minLength: 5, maxLength: 3 },
  contradiction: { allOf: [{ type: 'string' }, { type: 'integer' }] },
  pattern: { ...text, pattern: '^(?!.*).+$' },
  endless: { $ref: '#/components/schemas/Endless' },
};
const components = {
  schemas: {
    Tree: {
      type: 'object',
      required: ['size', 'below'],
      properties: {
        size: { type: 'integer' },
        below: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
        next: { $ref: '#/components/schemas/Tree' },
      },
    },
    Chain: {
      type: 'object',
      required: ['child'],
      properties: { child: { oneOf: [{ $ref: '#/components/schemas/Chain' }, { type: 'null' }] } },
    },
    Endless: { type: 'object', required: ['child'], properties: { child: { $ref: '#/components/schemas/Endless' } } },
  },
};

async function triedOf(schemas: Readonly<Record<string, object>>): Promise<Tried[]> {
  const paths = Object.entries(schemas).map(([name, schema]) => {
    const content = { 'application/json': { schema } };
    return [
      `/${encodeURIComponent(name)}`,
      { get: { operationId: name, responses: { 200: { description: 'x', content } } } },
    ];
  });
  const compiled = await compileDocument(documentOf(Object.fromEntries(paths), { components }));
  assert.deepEqual(compiled.mistakes, []);
  return everyValue(compiled.operations, compiled.schemas);
}

describe('a value', () => {
  it('is made for schemas that are hard to satisfy', async () => {
    assert.deepEqual(invalid(await triedOf(hard)), []);
  });

  it('is not made where none exists', async () => {
    const tried = await triedOf(impossible);
    assert.deepEqual(
      tried.map(({ value }) => value),
      [undefined, undefined, undefined, undefined],
    );
  });

  it('is not empty: maps have a member, lists an item, optional members are there', async () => {
    const tried = await triedOf({
      map: { type: 'object', additionalProperties: { type: 'integer' } },
      list: { type: 'array', items: text },
      optional: { type: 'object', properties: { a: { type: 'array', items: { ...text, pattern: '^a$' } } } },
    });
    assert.deepEqual(
      tried.map(({ value }) => value),
      [{ example: 1 }, ['string'], { a: ['a'] }],
    );
  });
});
