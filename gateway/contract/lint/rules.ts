// Lists the gateway's own lint rules for contracts, each with the file of its subject. They run inside the linter, which supplies file and
// line.

import type { Oas2Rule, Oas3Rule, Plugin } from '@redocly/openapi-core';
import { withoutFurtherReferences } from './document-types.ts';
import { extensionsHaveAMeaning } from './extension-rules.ts';
import { headerNamesFitHeaders, mediaTypesFitHeaders } from './header-rules.ts';
import { contentHasMediaTypes, jsonHasASchema } from './media-type-rules.ts';
import {
  membersAreInAnOperation,
  operationsHaveAMethod,
  parametersAreDeclaredOnce,
  parametersHaveASchema,
  pathParametersAreRequired,
  statusesExist,
  textsAreNoReferences,
} from './misplaced-rules.ts';
import {
  methodsAreServed,
  pathsAreWrittenOnce,
  pathsCanBeRequested,
  pathsHaveTemplates,
  securitySchemesExist,
  serversAreServed,
  serversHaveNoCredentials,
} from './path-rules.ts';
import { keywordsExist, referencesFitTheirPlace, referencesStandAlone } from './reference-rules.ts';
import {
  enumsHaveValues,
  formatsAreExact,
  nullableAdmitsNull,
  patternsAreExact,
  patternsCanRun,
  patternsMeanWhatTheySay,
} from './schema-rules.ts';
import { boundsFitTheirType, formatsAreSpeltRight } from './type-rules.ts';

/** Converts a rule for Swagger 2.0. */
type ForSwagger = (rule: Oas3Rule) => Oas2Rule;

/** Applies a rule for schemas to Swagger 2.0, where parameters themselves have the keywords of schemas. */
const inParameters: ForSwagger = (rule) => (options) => {
  const { Schema } = rule(options) as { readonly Schema: object };
  return { Schema, Parameter: Schema, ParameterItems: Schema } as ReturnType<Oas2Rule>;
};

const asItIs: ForSwagger = (rule) => rule as Oas2Rule;

/** The rules for OpenAPI from 3.0 on, and those that apply to Swagger 2.0, too. */
const RULES: Readonly<Record<string, readonly ['error' | 'warn', Oas3Rule, ForSwagger?]>> = {
  'extensions-have-a-meaning': ['error', extensionsHaveAMeaning, asItIs],
  'texts-are-no-references': ['error', textsAreNoReferences, asItIs],
  'patterns-can-run': ['error', patternsCanRun, inParameters],
  'patterns-mean-what-they-say': ['error', patternsMeanWhatTheySay, inParameters],
  'enums-have-values': ['error', enumsHaveValues, inParameters],
  'paths-have-templates': ['error', pathsHaveTemplates, asItIs],
  'operations-have-a-method': ['error', operationsHaveAMethod, asItIs],
  'members-are-in-an-operation': ['error', membersAreInAnOperation, asItIs],
  'content-has-media-types': ['error', contentHasMediaTypes],
  'references-fit-their-place': ['error', referencesFitTheirPlace],
  'references-stand-alone': ['error', referencesStandAlone],
  'keywords-exist': ['error', keywordsExist],
  'statuses-exist': ['error', statusesExist, asItIs],
  'parameters-have-a-schema': ['error', parametersHaveASchema],
  'parameters-are-declared-once': ['error', parametersAreDeclaredOnce, asItIs],
  'media-types-fit-headers': ['error', mediaTypesFitHeaders],
  'header-names-fit-headers': ['error', headerNamesFitHeaders],
  'paths-can-be-requested': ['warn', pathsCanBeRequested, asItIs],
  'methods-are-served': ['warn', methodsAreServed],
  'path-parameters-are-required': ['warn', pathParametersAreRequired, asItIs],
  'paths-are-written-once': ['warn', pathsAreWrittenOnce],
  'security-schemes-exist': ['warn', securitySchemesExist],
  'servers-are-served': ['warn', serversAreServed],
  'servers-have-no-credentials': ['warn', serversHaveNoCredentials],
  'patterns-are-exact': ['warn', patternsAreExact, inParameters],
  'formats-are-exact': ['warn', formatsAreExact, inParameters],
  'formats-are-spelt-right': ['warn', formatsAreSpeltRight, inParameters],
  'bounds-fit-their-type': ['warn', boundsFitTheirType, inParameters],
  'nullable-admits-null': ['warn', nullableAdmitsNull],
  'json-has-a-schema': ['warn', jsonHasASchema],
};

export const OWN_RULES: Plugin = {
  id: 'gateway',
  typeExtension: { oas2: withoutFurtherReferences, oas3: withoutFurtherReferences },
  rules: {
    oas2: Object.fromEntries(
      Object.entries(RULES).flatMap(([name, [, rule, forSwagger]]) => (forSwagger ? [[name, forSwagger(rule)]] : [])),
    ),
    oas3: Object.fromEntries(Object.entries(RULES).map(([name, [, rule]]) => [name, rule])),
  },
};

/**
 * The severities of all rules. The linter checks that a document is valid OpenAPI 3.0, 3.1 or 3.2. Its rules of style are off, because
 * style is no reason to refuse a contract.
 */
export const LINT_RULES = {
  struct: 'error',
  'no-unresolved-refs': 'error',
  'path-parameters-defined': 'error',
  ...Object.fromEntries(Object.entries(RULES).map(([name, [severity]]) => [`gateway/${name}`, severity])),
} as const;
