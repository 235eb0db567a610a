// The lint rules about schemas: patterns that cannot run, and keywords that the gateway enforces less strictly than the document reads.

import type { Oas3Rule, UserContext } from '@redocly/openapi-core';
import { closest } from '../../shared/mistakes.ts';
import { isObject } from '../pointer.ts';
import { formatCheck, REGEX_LENGTH_MAX } from '../scalars/formats.ts';
import { toPattern } from '../scalars/patterns.ts';

export const patternsCanRun: Oas3Rule = () => ({
  Schema(schema, { report, location }) {
    if (typeof schema !== 'object' || schema === null) return;
    const { pattern, patternProperties } = schema as { pattern?: unknown; patternProperties?: unknown };
    const check = (source: string, at: typeof location) => {
      try {
        toPattern(source);
      } catch (error) {
        report({ message: `${error instanceof Error ? error.message : String(error)}`, location: at });
      }
    };
    if (typeof pattern === 'string') check(pattern, location.child(['pattern']));
    for (const source of Object.keys(patternProperties ?? {}))
      check(source, location.child(['patternProperties', source]).key());
  },
});

/** The forms in which other languages write a regular expression. ECMA-262 reads them as other characters. */
const FOREIGN_PATTERNS: readonly (readonly [form: RegExp, message: (source: string) => string])[] = [
  [/^\/\^.*\$\/[a-z]*$/s, () => 'the slashes around a pattern belong to the pattern, so no text matches'],
  [
    /\[\[:\^?[a-z]+:\]/,
    (source) => `patterns have no ${/\[:\^?[a-z]+:\]/.exec(source)?.[0]}, so it stands for these characters`,
  ],
];

/** A pattern that runs, and means something else than its author thinks. */
export const patternsMeanWhatTheySay: Oas3Rule = () => ({
  Schema(schema, { report, location }) {
    const pattern: unknown = schema?.pattern;
    if (typeof pattern !== 'string') return;
    const [, message] = FOREIGN_PATTERNS.find(([form]) => form.test(pattern)) ?? [];
    if (message) report({ message: message(pattern), location: location.child(['pattern']) });
  },
});

/** A list without values admits none. */
export const enumsHaveValues: Oas3Rule = () => ({
  Schema(schema, { report, location }) {
    const values: unknown = schema?.enum;
    if (!Array.isArray(values) || values.length > 0) return;
    report({ message: 'enum has no value, so no value is valid', location: location.child(['enum']) });
  },
});

/** Bounds that have no effect on values of a type, and the bounds that its author may mean. */
const BOUNDS_OF_OTHER_TYPES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  string: { minimum: 'minLength', maximum: 'maxLength', minItems: 'minLength', maxItems: 'maxLength' },
  number: { minLength: 'minimum', maxLength: 'maximum' },
  integer: { minLength: 'minimum', maxLength: 'maximum' },
  array: { minLength: 'minItems', maxLength: 'maxItems', minimum: 'minItems', maximum: 'maxItems' },
};

export const boundsFitTheirType: Oas3Rule = () => ({
  Schema(schema, { report, location }) {
    const type: unknown = schema?.type;
    const others = typeof type === 'string' ? BOUNDS_OF_OTHER_TYPES[type] : undefined;
    for (const [bound, meant] of Object.entries(others ?? {})) {
      if (!Object.hasOwn(schema, bound)) continue;
      const message = `${bound} has no effect on values of type ${type}`;
      report({ message, suggest: [meant], location: location.child([bound]).key() });
    }
  },
});

/** Returns whether maxLength excludes texts longer than `length`. */
function isNeverLonger({ maxLength }: { readonly maxLength?: unknown }, length: number): boolean {
  return typeof maxLength === 'number' && maxLength <= length;
}

export const patternsAreExact: Oas3Rule = () => ({
  Schema(schema, { report, location }) {
    if (typeof schema?.pattern !== 'string') return;
    const exactLength = exactLengthOf(schema.pattern);
    if (isNeverLonger(schema, exactLength) || exactLength === Number.POSITIVE_INFINITY) return;
    const which = exactLength === 0 ? 'texts' : `texts of more than ${exactLength} characters`;
    const message = `the pattern ${schema.pattern} could take long, so ${which} are checked without its look-around and back references`;
    report({ message, location: location.child(['pattern']) });
  },
});

/** Returns the length up to which texts are checked exactly. Infinity for a pattern that does not compile, which another rule reports. */
function exactLengthOf(source: string): number {
  try {
    return toPattern(source).exactLength;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

export const formatsAreExact: Oas3Rule = () => ({
  Schema(schema, { report, location }) {
    if (schema?.format !== 'regex' || isNeverLonger(schema, REGEX_LENGTH_MAX)) return;
    const message = `format regex takes texts of up to ${REGEX_LENGTH_MAX} characters, and refuses longer ones`;
    report({ message, location: location.child(['format']) });
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

/** Warns of a format that is nearly one that is checked. Other unknown formats are listed as not enforced. */
export const formatsAreSpeltRight: Oas3Rule = () => ({
  Schema(schema, { report, location }) {
    const format: unknown = schema?.format;
    if (typeof format !== 'string' || formatCheck(format, 'string')) return;
    if ([...USUAL_FORMATS, ...UNCHECKED_FORMATS].includes(format)) return;
    const near = closest(format, USUAL_FORMATS, 1);
    if (near === undefined) return;
    const message = `the format ${JSON.stringify(format)} is not known, so it is not checked`;
    report({ message, suggest: [near], location: location.child(['format']) });
  },
});

/** Warns of `nullable` in OpenAPI 3.1. Only OpenAPI 3.0 defines this keyword. Generators often still write it, and validators ignore it. */
export const nullableAdmitsNull: Oas3Rule = () => {
  const check = (schema: unknown, { specVersion, report, location }: UserContext) => {
    if (specVersion === 'oas3_0' || !isObject(schema) || schema.nullable !== true) return;
    if ([schema.type].flat().includes('null')) return;
    const message = 'OpenAPI has no nullable from 3.1 on, so it is ignored and admits no null here';
    report({ message, location: location.child(['nullable']).key() });
  };
  return {
    Schema: check,
    // The linter follows a reference before it visits the schema, past the members beside the reference.
    ref: (node, context) => {
      if (context.type.name === 'Schema') check(node, context);
    },
  };
};
