// Rules of the gateway's own for contract documents. They run inside the linter, which knows the file and line of everything.

import type { Oas3Rule, Plugin } from '@redocly/openapi-core';
import { isFieldName, isFieldText } from '../field-text.ts';
import { REGEX_LENGTH_MAX } from './formats.ts';
import { toPattern } from './patterns.ts';

/** Where `x-gateway-*` members mean something; elsewhere they would be overlooked in silence. */
const carriers = new Set(['Root', 'PathItem', 'Operation']);

const extensionsHaveAMeaning: Oas3Rule = () => ({
  any(node, { type, report, location }) {
    if (carriers.has(type.name) || typeof node !== 'object' || node === null) return;
    for (const name of Object.keys(node)) {
      if (!name.startsWith('x-gateway-')) continue;
      report({
        message: `${name} has no meaning here`,
        suggest: [],
        location: location.child([name]).key(),
      });
    }
  },
});

const patternsCanRun: Oas3Rule = () => ({
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

/** Whether no text that is longer can pass. */
function isNeverLonger({ maxLength }: { readonly maxLength?: unknown }, length: number): boolean {
  return typeof maxLength === 'number' && maxLength <= length;
}

const patternsAreExact: Oas3Rule = () => ({
  Schema(schema, { report, location }) {
    if (typeof schema?.pattern !== 'string') return;
    const exactLength = exactLengthOf(schema.pattern);
    if (isNeverLonger(schema, exactLength) || exactLength === Number.POSITIVE_INFINITY) return;
    const which = exactLength === 0 ? 'texts' : `texts of more than ${exactLength} characters`;
    const message = `the pattern ${schema.pattern} could take long, so ${which} are checked without its look-around and back references`;
    report({ message, suggest: [], location: location.child(['pattern']) });
  },
});

/** What cannot run at all is a mistake of its own. */
function exactLengthOf(source: string): number {
  try {
    return toPattern(source).exactLength;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

const formatsAreExact: Oas3Rule = () => ({
  Schema(schema, { report, location }) {
    if (schema?.format !== 'regex' || isNeverLonger(schema, REGEX_LENGTH_MAX)) return;
    const message = `format regex takes texts of up to ${REGEX_LENGTH_MAX} characters, and refuses longer ones`;
    report({ message, suggest: [], location: location.child(['format']) });
  },
});

/** A refused body is told the media types that are accepted. */
const mediaTypesFitHeaders: Oas3Rule = () => ({
  MediaTypesMap(map, { report, location }) {
    for (const type of Object.keys(map)) {
      if (isFieldText(type)) continue;
      const message = `the media type ${JSON.stringify(type)} cannot stand in a header`;
      report({ message, suggest: [], location: location.child([type]).key() });
    }
  },
});

/** A browser is told the names of the headers that it may send and read. */
const headerNamesFitHeaders: Oas3Rule = () => ({
  Parameter(parameter, { report, location }) {
    const name: unknown = parameter.name;
    if (parameter.in !== 'header' || typeof name !== 'string' || isFieldName(name)) return;
    report({
      message: `${JSON.stringify(name)} is no name of a header field`,
      suggest: [],
      location: location.child(['name']),
    });
  },
  HeadersMap(map, { report, location }) {
    for (const name of Object.keys(map)) {
      if (isFieldName(name)) continue;
      const message = `${JSON.stringify(name)} is no name of a header field`;
      report({ message, suggest: [], location: location.child([name]).key() });
    }
  },
});

export const ownRules: Plugin = {
  id: 'gateway',
  rules: {
    oas3: {
      'extensions-have-a-meaning': extensionsHaveAMeaning,
      'patterns-can-run': patternsCanRun,
      'patterns-are-exact': patternsAreExact,
      'formats-are-exact': formatsAreExact,
      'media-types-fit-headers': mediaTypesFitHeaders,
      'header-names-fit-headers': headerNamesFitHeaders,
    },
  },
};
