// Changes of schemas, each in both directions: schemas of requests may be widened, those of answers may be narrowed.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inBody, rulesOf } from './differences.ts';

interface Case {
  readonly old: unknown;
  readonly new: unknown;
  readonly request: readonly string[];
  readonly response: readonly string[];
  readonly schemas?: { readonly old: object; readonly new: object };
}

const text = { type: 'string' };
const whole = { type: 'integer' };
const object = (properties: object, rest: object = {}) => ({ type: 'object', properties, ...rest });
const A = object({ a: text }, { required: ['a'], additionalProperties: false });
const B = object({ b: text }, { required: ['b'], additionalProperties: false });
const C = object({ c: text }, { required: ['c'], additionalProperties: false });

/** The same effect under its name on each side: narrowing breaks requests, widening breaks answers. */
const narrowed = (subject: string) => ({
  request: [`breaking request-${subject}-narrowed`],
  response: [`additive response-${subject}-narrowed`],
});
const widened = (subject: string) => ({
  request: [`additive request-${subject}-widened`],
  response: [`breaking response-${subject}-widened`],
});
const changed = (subject: string) => ({
  request: [`breaking request-${subject}-changed`],
  response: [`breaking response-${subject}-changed`],
});
const nothing = { request: [], response: [] };

const cases: Readonly<Record<string, Case>> = {
  nothing: { old: A, new: A, ...nothing },
  'other words': { old: text, new: { ...text, description: 'x', title: 'T', examples: ['y'] }, ...nothing },

  // Members
  'an optional member more': {
    old: object({ a: text }),
    new: object({ a: text, b: text }),
    request: ['additive request-property-added'],
    response: ['additive response-property-added'],
  },
  'a required member more': {
    old: object({ a: text }),
    new: object({ a: text, b: text }, { required: ['b'] }),
    request: ['breaking request-property-required'],
    response: ['additive response-property-added'],
  },
  'an optional member less': {
    old: object({ a: text, b: text }),
    new: object({ a: text }),
    request: ['breaking request-property-removed'],
    response: ['breaking response-property-removed'],
  },
  'a required member less': {
    old: object({ a: text, b: text }, { required: ['b'] }),
    new: object({ a: text }),
    request: ['breaking request-property-removed'],
    response: ['breaking response-property-removed'],
  },
  'a member becomes required': {
    old: object({ a: text }),
    new: object({ a: text }, { required: ['a'] }),
    request: ['breaking request-property-required'],
    response: ['additive response-property-required'],
  },
  'a member becomes optional': {
    old: object({ a: text }, { required: ['a'] }),
    new: object({ a: text }),
    request: ['additive request-property-optional'],
    response: ['breaking response-property-optional'],
  },
  'a member becomes read-only': {
    old: object({ a: text }),
    new: object({ a: { ...text, readOnly: true } }),
    request: ['breaking request-property-removed'],
    response: [],
  },
  'a member becomes write-only': {
    old: object({ a: text }),
    new: object({ a: { ...text, writeOnly: true } }),
    request: [],
    response: ['breaking response-property-removed'],
  },
  'a read-only member more, required': {
    old: object({ a: text }),
    new: object({ a: text, id: { ...text, readOnly: true } }, { required: ['id'] }),
    request: [],
    response: ['additive response-property-added'],
  },
  'no other members any more': {
    old: object({ a: text }),
    new: object({ a: text }, { additionalProperties: false }),
    request: ['breaking request-additional-properties-closed'],
    response: ['additive response-additional-properties-closed'],
  },
  'other members from now on': {
    old: object({ a: text }, { additionalProperties: false }),
    new: object({ a: text }, { additionalProperties: true }),
    request: ['additive request-additional-properties-opened'],
    response: ['additive response-additional-properties-opened'],
  },
  'other members must be something': {
    old: { type: 'object' },
    new: { type: 'object', additionalProperties: text },
    ...narrowed('type'),
  },
  'values of a map change their type': {
    old: { type: 'object', additionalProperties: text },
    new: { type: 'object', additionalProperties: whole },
    ...changed('type'),
  },
  'members by pattern': {
    old: { type: 'object' },
    new: { type: 'object', patternProperties: { '^x-': text } },
    ...narrowed('pattern-properties'),
  },

  // Types
  'another type': { old: text, new: whole, ...changed('type') },
  'a further type (3.1)': { old: text, new: { type: ['string', 'integer'] }, ...widened('type') },
  'a type less (3.1)': { old: { type: ['string', 'integer'] }, new: text, ...narrowed('type') },
  'integer to number': { old: whole, new: { type: 'number' }, ...widened('type') },
  'number to integer': { old: { type: 'number' }, new: whole, ...narrowed('type') },
  'null is possible (3.1)': { old: text, new: { type: ['string', 'null'] }, ...widened('type') },
  'null is not possible any more (3.1)': { old: { type: ['string', 'null'] }, new: text, ...narrowed('type') },
  'null as a branch': { old: A, new: { anyOf: [A, { type: 'null' }] }, ...widened('type') },
  'null as a branch or as a type': {
    old: { type: ['string', 'null'] },
    new: { anyOf: [{ type: 'null' }, text] },
    ...nothing,
  },
  'any value': { old: text, new: {}, ...widened('type') },
  'a format': { old: text, new: { ...text, format: 'date-time' }, ...narrowed('format') },
  'no format': { old: { ...text, format: 'date-time' }, new: text, ...widened('format') },
  'another format': { old: { ...text, format: 'date' }, new: { ...text, format: 'date-time' }, ...changed('format') },
  'a wider format': { old: { ...whole, format: 'int32' }, new: { ...whole, format: 'int64' }, ...widened('format') },

  // Values
  'a value more': {
    old: { enum: ['a', 'b'] },
    new: { enum: ['b', 'a', 'c'] },
    request: ['additive request-value-added'],
    response: ['breaking response-value-added'],
  },
  'a value less': {
    old: { type: 'string', enum: ['a', 'b'] },
    new: { type: 'string', enum: ['a'] },
    request: ['breaking request-value-removed'],
    response: ['additive response-value-removed'],
  },
  'one value in another spelling': { old: { const: 'a' }, new: { enum: ['a'] }, ...nothing },
  'only listed values': { old: text, new: { ...text, enum: ['a'] }, ...narrowed('values') },
  'any value in place of listed ones': { old: { ...text, enum: ['a'] }, new: text, ...widened('values') },

  // Bounds
  'a lower maximum': { old: { ...whole, maximum: 9 }, new: { ...whole, maximum: 5 }, ...narrowed('bound') },
  'a higher maximum': { old: { ...whole, maximum: 9 }, new: { ...whole, maximum: 10 }, ...widened('bound') },
  'a first maximum': { old: whole, new: { ...whole, maximum: 9 }, ...narrowed('bound') },
  'no maximum any more': { old: { ...whole, maximum: 9 }, new: whole, ...widened('bound') },
  'a higher minimum': { old: { ...whole, minimum: 1 }, new: { ...whole, minimum: 2 }, ...narrowed('bound') },
  'a lower minLength': { old: { ...text, minLength: 2 }, new: { ...text, minLength: 1 }, ...widened('bound') },
  'a first maxLength': { old: text, new: { ...text, maxLength: 20 }, ...narrowed('bound') },
  'a minLength of nothing': { old: text, new: { ...text, minLength: 0 }, ...nothing },
  'one bound in another spelling': {
    old: { ...whole, minimum: 1 },
    new: { ...whole, exclusiveMinimum: 0 },
    ...nothing,
  },
  'an exclusive bound': {
    old: { type: 'number', minimum: 0 },
    new: { type: 'number', exclusiveMinimum: 0 },
    ...narrowed('bound'),
  },
  'more items': {
    old: { type: 'array', items: text, maxItems: 3 },
    new: { type: 'array', items: text, maxItems: 4 },
    ...widened('bound'),
  },
  'unique items': { old: { type: 'array' }, new: { type: 'array', uniqueItems: true }, ...narrowed('keyword') },
  'coarser multiples': { old: { ...whole, multipleOf: 5 }, new: { ...whole, multipleOf: 10 }, ...narrowed('keyword') },
  'finer multiples': { old: { ...whole, multipleOf: 10 }, new: { ...whole, multipleOf: 5 }, ...widened('keyword') },
  'a pattern': { old: text, new: { ...text, pattern: '^a' }, ...narrowed('pattern') },
  'no pattern any more': { old: { ...text, pattern: '^a' }, new: text, ...widened('pattern') },
  'another pattern': { old: { ...text, pattern: '^a' }, new: { ...text, pattern: '^b' }, ...changed('pattern') },
  'another not': { old: { not: text }, new: { not: whole }, ...changed('keyword') },

  // Items
  'items of another type': {
    old: { type: 'array', items: text },
    new: { type: 'array', items: whole },
    ...changed('type'),
  },
  'a tuple': {
    old: { type: 'array', prefixItems: [text, text] },
    new: { type: 'array', prefixItems: [text, { ...text, maxLength: 3 }] },
    ...narrowed('bound'),
  },

  // Alternatives
  'an alternative more': {
    old: { oneOf: [A, B] },
    new: { oneOf: [B, C, A] },
    request: ['additive request-alternative-added'],
    response: ['breaking response-alternative-added'],
  },
  'an alternative less': {
    old: { anyOf: [A, B, C] },
    new: { anyOf: [C, A] },
    request: ['breaking request-alternative-removed'],
    response: ['additive response-alternative-removed'],
  },
  'alternatives where there was one': {
    old: A,
    new: { oneOf: [A, B] },
    request: ['additive request-alternative-added'],
    response: ['breaking response-alternative-added'],
  },
  'one where there were alternatives': {
    old: { oneOf: [A, B] },
    new: B,
    request: ['breaking request-alternative-removed'],
    response: ['additive response-alternative-removed'],
  },
  'alternatives in another order': { old: { oneOf: [A, B, C] }, new: { oneOf: [C, B, A] }, ...nothing },
  'a change inside an alternative': {
    old: { oneOf: [A, { ...text, maxLength: 5 }] },
    new: { oneOf: [{ ...text, maxLength: 4 }, A] },
    ...narrowed('bound'),
  },
  'null as an alternative more': {
    old: { oneOf: [A, B] },
    new: { oneOf: [A, B, { type: 'null' }] },
    request: ['additive request-alternative-added'],
    response: ['breaking response-alternative-added'],
  },
  'exactly one in place of any': {
    old: { anyOf: [A, B] },
    new: { oneOf: [A, B] },
    ...narrowed('alternatives'),
  },
  'parts put together': {
    old: object({ a: text, b: whole }, { required: ['a'] }),
    new: { allOf: [object({ a: text }, { required: ['a'] }), object({ b: whole })] },
    ...nothing,
  },
  'a part that demands more': {
    old: { allOf: [object({ a: text })] },
    new: { allOf: [object({ a: text }), object({ a: { maxLength: 3 } })] },
    ...narrowed('bound'),
  },

  // References
  'a schema that has moved': {
    old: { $ref: '#/components/schemas/Old' },
    new: { $ref: '#/components/schemas/New' },
    schemas: { old: { Old: A }, new: { New: A } },
    ...nothing,
  },
  'a schema written out': {
    old: { $ref: '#/components/schemas/Old' },
    new: A,
    schemas: { old: { Old: A }, new: {} },
    ...nothing,
  },
  'a circle that stays': {
    old: { $ref: '#/components/schemas/Tree' },
    new: { $ref: '#/components/schemas/Tree' },
    schemas: {
      old: { Tree: object({ children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } }) },
      new: { Tree: object({ children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } }) },
    },
    ...nothing,
  },
  'a change in a circle': {
    old: { $ref: '#/components/schemas/Tree' },
    new: { $ref: '#/components/schemas/Tree' },
    schemas: {
      old: { Tree: object({ name: text, up: { $ref: '#/components/schemas/Tree' } }) },
      new: { Tree: object({ name: { ...text, maxLength: 9 }, up: { $ref: '#/components/schemas/Tree' } }) },
    },
    ...narrowed('bound'),
  },
  'a constraint beside a reference': {
    old: { $ref: '#/components/schemas/Name' },
    new: { $ref: '#/components/schemas/Name', maxLength: 5 },
    schemas: { old: { Name: text }, new: { Name: text } },
    ...narrowed('bound'),
  },

  // Defaults
  'a default of a member': {
    old: object({ a: text }),
    new: object({ a: { ...text, default: 'x' } }),
    request: ['additive request-default-changed'],
    response: ['additive response-default-changed'],
  },
  'another default of a member': {
    old: object({ a: { ...text, default: 'y' } }),
    new: object({ a: { ...text, default: 'x' } }),
    request: ['breaking request-default-changed'],
    response: ['additive response-default-changed'],
  },
};

describe('changes of schemas', () => {
  for (const [name, { old, new: fresh, schemas, ...expected }] of Object.entries(cases)) {
    for (const side of ['request', 'response'] as const) {
      it(`${name}, in a ${side}: ${expected[side].join(', ') || 'no difference'}`, () => {
        const [before, after] = [schemas?.old, schemas?.new].map((all) =>
          all ? { components: { schemas: all } } : {},
        );
        assert.deepEqual(rulesOf(inBody[side](old, before), inBody[side](fresh, after)), expected[side]);
      });
    }
  }

  it('3.0 nullable and 3.1 types say the same', () => {
    for (const side of ['request', 'response'] as const) {
      const old = { ...inBody[side]({ type: 'string', nullable: true, enum: ['a'] }), openapi: '3.0.4' };
      assert.deepEqual(rulesOf(old, inBody[side]({ type: ['string', 'null'], enum: ['a', null] })), []);
      const exclusive = { ...inBody[side]({ type: 'number', minimum: 1, exclusiveMinimum: true }), openapi: '3.0.4' };
      assert.deepEqual(rulesOf(exclusive, inBody[side]({ type: 'number', exclusiveMinimum: 1 })), []);
    }
  });
});
