// The lint rules about schemas: patterns that cannot run, and keywords that the gateway enforces less strictly than the document reads.

import type { Oas3Rule, UserContext } from '@redocly/openapi-core';
import { isRecord } from '../../shared/is-record.ts';
import { REGEX_LENGTH_MAX } from '../scalars/formats.ts';
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
  [
    /^[“”‘’].*[“”‘’]$/,
    () => 'typographic quotes around a pattern belong to the pattern, so no value matches without them',
  ],
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
    const suggest = /^[“”‘’](.*)[“”‘’]$/.exec(pattern)?.slice(1) ?? [];
    if (message) report({ message: message(pattern), suggest, location: location.child(['pattern']) });
  },
});

/** A list without values admits none. A value that is there twice is probably another one. */
export const enumsHaveValues: Oas3Rule = () => ({
  Schema(schema, { report, location }) {
    const values: unknown = schema?.enum;
    if (!Array.isArray(values)) return;
    if (values.length === 0)
      report({ message: 'enum has no value, so no value is valid', location: location.child(['enum']) });
    const texts = values.map((value) => JSON.stringify(value));
    for (const [index, text] of texts.entries()) {
      if (texts.indexOf(text) === index) continue;
      const message = `the value ${text} is there twice`;
      report({ message, location: location.child(['enum', index]), forceSeverity: 'warn' });
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

/** Warns of `nullable` in OpenAPI 3.1. Only OpenAPI 3.0 defines this keyword. Generators often still write it, and validators ignore it. */
export const nullableAdmitsNull: Oas3Rule = () => {
  const check = (schema: unknown, { specVersion, report, location }: UserContext) => {
    if (specVersion === 'oas3_0' || !isRecord(schema) || schema.nullable !== true) return;
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
