// Rules of the gateway's own for contract documents. They run inside the linter, which knows the file and line of everything.

import type { Oas3Rule, Plugin } from '@redocly/openapi-core';
import { isFieldName, isFieldText } from '../field-text.ts';
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
      'media-types-fit-headers': mediaTypesFitHeaders,
      'header-names-fit-headers': headerNamesFitHeaders,
    },
  },
};
