// The lint rules about keywords and formats of schemas that have no effect, because they are about values of another type.

import type { Oas3Rule, UserContext } from '@redocly/openapi-core';
import { isRecord } from '../../shared/is-record.ts';
import { closest } from '../../shared/mistakes.ts';
import { wordSet } from '../../shared/text.ts';
import { formatCheck } from '../scalars/formats.ts';

/** Bounds that have no effect on values of a type, and the bounds that its author may mean. */
const BOUNDS_OF_OTHER_TYPES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  string: { minimum: 'minLength', maximum: 'maxLength', minItems: 'minLength', maxItems: 'maxLength' },
  number: { minLength: 'minimum', maxLength: 'maximum' },
  integer: { minLength: 'minimum', maxLength: 'maximum' },
  array: { minLength: 'minItems', maxLength: 'maxItems', minimum: 'minItems', maximum: 'maxItems' },
};

/** The keywords that are about values of some types only. `additionalProperties` is left out, because generators write it everywhere. */
const KEYWORDS_OF_TYPES = [
  { types: ['string'], keywords: [...wordSet('minLength maxLength pattern')] },
  {
    types: ['number', 'integer'],
    keywords: [...wordSet('minimum maximum exclusiveMinimum exclusiveMaximum multipleOf')],
  },
  { types: ['array'], keywords: [...wordSet('items prefixItems minItems maxItems uniqueItems contains')] },
  {
    types: ['object'],
    keywords: [...wordSet('properties required patternProperties propertyNames minProperties maxProperties')],
  },
];

/** Keywords that have an effect only beside another one. */
const NEEDED_BESIDE = [
  ['then', 'if'],
  ['else', 'if'],
  ['minContains', 'contains'],
  ['maxContains', 'contains'],
] as const;

/** Warns of keywords that have no effect, because of the type or because another keyword is missing. */
export const boundsFitTheirType: Oas3Rule = () => ({
  Schema(schema, { report, location }) {
    const { type } = (isRecord(schema) ? schema : {}) as { readonly type?: unknown };
    const given = [type ?? []].flat().map(String);
    const about = given.length === 0 ? [] : KEYWORDS_OF_TYPES;
    for (const { types, keywords } of about.filter(({ types }) => !types.some((one) => given.includes(one)))) {
      for (const keyword of keywords.filter((one) => Object.hasOwn(schema, one))) {
        if (keyword === 'required' && !Array.isArray(schema.required)) continue;
        const meant = BOUNDS_OF_OTHER_TYPES[given[0] as string]?.[keyword];
        const suggest = meant ?? (types.length === 1 && types[0] !== 'string' ? `type: ${types[0]}` : undefined);
        const message = `${keyword} has no effect on values of type ${given.join(' or ')}`;
        report({ message, suggest: suggest === undefined ? [] : [suggest], location: location.child([keyword]).key() });
      }
    }
    for (const [keyword, needed] of NEEDED_BESIDE) {
      if (!isRecord(schema) || !Object.hasOwn(schema, keyword) || Object.hasOwn(schema, needed)) continue;
      report({ message: `${keyword} has no effect without ${needed}`, location: location.child([keyword]).key() });
    }
  },
});

/** Formats of OpenAPI and JSON Schema that other words are mistaken for. */
const USUAL_FORMATS = [
  ...['date', 'date-time', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uri-reference', 'uuid'],
  ...['json-pointer', 'password', 'binary'],
];

/** Formats of JSON Schema that are not checked. */
const UNCHECKED_FORMATS = [
  'iri',
  'iri-reference',
  'idn-email',
  'idn-hostname',
  'uri-template',
  'relative-json-pointer',
];

/** Formats of numbers. The registry of OpenAPI has those behind the fourth as well. */
const NUMBER_FORMATS = [
  ...['int32', 'int64', 'float', 'double'],
  ...['int8', 'int16', 'uint8', 'uint16', 'uint32', 'uint64', 'double-int', 'decimal', 'decimal128'],
];

/** Warns of a format of numbers that is misspelt, and of a format of texts at a number. */
function checkNumberFormat(schema: object, format: string, { report, location }: UserContext): void {
  const at = location.child(['format']);
  if (USUAL_FORMATS.includes(format)) {
    const { type } = schema as { readonly type?: unknown };
    report({ message: `the format ${JSON.stringify(format)} has no effect on values of type ${type}`, location: at });
    return;
  }
  const near = /^int(eger)?$/.test(format) ? 'int32' : closest(format, NUMBER_FORMATS.slice(0, 4), 1);
  if (near === undefined || NUMBER_FORMATS.includes(format)) return;
  const message = `the format ${JSON.stringify(format)} is not known, so it is not checked`;
  report({ message, suggest: [near], location: at });
}

/** Warns of a format that is nearly one that is checked. Other unknown formats are listed as not enforced. */
export const formatsAreSpeltRight: Oas3Rule = () => ({
  Schema(schema, context) {
    const { report, location } = context as UserContext;
    const format: unknown = schema?.format;
    if (typeof format === 'string' && (schema.type === 'integer' || schema.type === 'number')) {
      checkNumberFormat(schema, format, context as UserContext);
      return;
    }
    if (typeof format !== 'string' || formatCheck(format, 'string')) return;
    if ([...USUAL_FORMATS, ...UNCHECKED_FORMATS].includes(format)) return;
    const near = closest(format, USUAL_FORMATS, 1);
    if (near === undefined) return;
    const message = `the format ${JSON.stringify(format)} is not known, so it is not checked`;
    report({ message, suggest: [near], location: location.child(['format']) });
  },
});
