// The gateway's own lint rules for contracts. They run inside the linter, which supplies file and line.

import { isRef, type Oas2Rule, type Oas3Rule, type Plugin } from '@redocly/openapi-core';
import { isFieldName, isFieldText } from '../../shared/http/words.ts';
import { essenceOf, isJson } from '../media-types.ts';
import { isRequestable } from '../operations/routes.ts';
import { serverPathsOf } from '../operations/servers.ts';
import { withoutFurtherReferences } from './document-types.ts';
import {
  contentHasMediaTypes,
  membersAreInAnOperation,
  operationsHaveAMethod,
  parametersAreDeclaredOnce,
  parametersHaveASchema,
  statusesExist,
} from './misplaced-rules.ts';
import { keywordsExist, referencesFitTheirPlace, referencesStandAlone } from './reference-rules.ts';
import {
  boundsFitTheirType,
  enumsHaveValues,
  formatsAreExact,
  formatsAreSpeltRight,
  nullableAdmitsNull,
  patternsAreExact,
  patternsCanRun,
  patternsMeanWhatTheySay,
} from './schema-rules.ts';

/** The node types that may have `x-gateway-*` members. Elsewhere such members would be ignored silently. */
const EXTENSION_CARRIERS = new Set(['Root', 'PathItem', 'Operation']);

const extensionsHaveAMeaning: Oas3Rule = () => ({
  any(node, { type, report, location }) {
    if (typeof node !== 'object' || node === null) return;
    const isCarrier = EXTENSION_CARRIERS.has(type.name);
    for (const [name, value] of Object.entries(node)) {
      if (!name.startsWith('x-')) continue;
      const isOwn = name.startsWith('x-gateway-');
      const isAllowed = isCarrier || (name === 'x-gateway-path' && type.name === 'Parameter');
      const places = [...(isOwn && !isAllowed ? [[name]] : []), ...(isOwn ? [] : ownBelow(value, [name]))];
      for (const place of places)
        report({ message: `${place.at(-1)} has no meaning here`, location: location.child(place).key() });
    }
  },
});

/** Returns the places of `x-gateway-*` members inside the value of another extension, which the linter does not check. */
function ownBelow(value: unknown, place: readonly string[], seen = new Set<unknown>()): string[][] {
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(name.startsWith('x-gateway-') ? [[...place, name]] : []),
    ...ownBelow(inner, [...place, name], seen),
  ]);
}

/** Types of single values. */
const SCALAR_TYPES = new Set(['string', 'number', 'integer', 'boolean']);

/** Refuses a reference in place of a text. OpenAPI does not allow such a reference; other tools insert a file there. */
const textsAreNoReferences: Oas3Rule = () => ({
  any(node, { type, report, location }) {
    if (typeof node !== 'object' || node === null) return;
    for (const [name, value] of Object.entries(node)) {
      if (!isRef(value)) continue;
      const found =
        (Object.hasOwn(type.properties, name) ? type.properties[name] : undefined) ?? type.additionalProperties;
      const expected = typeof found === 'function' ? found(value, name) : found;
      if (!expected || 'name' in expected || !SCALAR_TYPES.has(expected.type ?? (expected.enum ? 'string' : '')))
        continue;
      report({ message: 'OpenAPI has no reference here', location: location.child([name]) });
    }
  },
});

/** Media types must fit a header, because refusals list the accepted media types in a header. */
const mediaTypesFitHeaders: Oas3Rule = () => ({
  MediaTypesMap(map, { report, location }) {
    for (const type of Object.keys(map)) {
      if (isFieldText(type)) continue;
      const message = `the media type ${JSON.stringify(type)} cannot stand in a header`;
      report({ message, location: location.child([type]).key() });
    }
  },
});

/** A body of JSON without a schema is probably misindented or forgotten. */
const jsonHasASchema: Oas3Rule = () => ({
  MediaTypesMap(map, { report, location }) {
    for (const [type, media] of Object.entries(map)) {
      if (!isJson(essenceOf(type)) || typeof media !== 'object' || media === null || isRef(media)) continue;
      if ('schema' in media || 'itemSchema' in media) continue;
      report({ message: 'the body has no schema, so any JSON passes', location: location.child([type]).key() });
    }
  },
});

/** Header names must be valid, because CORS answers list them. */
const headerNamesFitHeaders: Oas3Rule = () => ({
  Parameter(parameter, { report, location }) {
    const name: unknown = parameter.name;
    if (parameter.in !== 'header' || typeof name !== 'string' || isFieldName(name)) return;
    if (name === '') {
      const message = 'no client can send a header without a name, so this parameter is left out';
      report({ message, location: location.child(['name']), forceSeverity: 'warn' });
      return;
    }
    report({
      message: `${JSON.stringify(name)} is not a name of a header field`,
      location: location.child(['name']),
    });
  },
  HeadersMap(map, { report, location }) {
    for (const name of Object.keys(map)) {
      if (isFieldName(name)) continue;
      const message = `${JSON.stringify(name)} is not a name of a header field`;
      report({ message, location: location.child([name]).key() });
    }
  },
});

/** Reports parameters of paths in the forms of routers, and braces without their other half. The gateway takes them literally. */
const pathsHaveTemplates: Oas3Rule = () => ({
  Paths(paths, { report, location }) {
    for (const template of Object.keys(paths)) {
      if (!template.startsWith('/')) continue;
      const wrong = template.split('/').find((segment) => /^:\w+$|^<[^<>]+>$/.test(segment) || hasLooseBrace(segment));
      if (wrong === undefined) continue;
      const name = /\w+(?=\W*$)/.exec(wrong)?.[0] ?? 'name';
      report({
        message: `${JSON.stringify(wrong)} is not a parameter, so only requests with these very characters match`,
        suggest: [template.replace(wrong, `{${name}}`)],
        location: location.child([template]).key(),
        forceSeverity: hasLooseBrace(wrong) ? 'error' : 'warn',
      });
    }
  },
});

function hasLooseBrace(segment: string): boolean {
  return /[{}]/.test(segment.replace(/\{[^{}]*\}/g, ''));
}

/** A path ends before a question mark; a number sign in it must be written as an escape. */
const pathsCanBeRequested: Oas3Rule = () => ({
  Paths(paths, { report, location }) {
    for (const template of Object.keys(paths)) {
      if (!template.startsWith('/') || !/[?#]/.test(template)) continue;
      const message = isRequestable(template)
        ? 'clients reach this path only if they write # as %23, and the upstream gets it as %23, too'
        : 'no request has this path, because it ends before the question mark, so its operations are not served';
      report({ message, location: location.child([template]).key() });
    }
  },
});

/** Reports operations whose methods the gateway does not know. */
const methodsAreServed: Oas3Rule = () => ({
  PathItem(item, { report, location }) {
    const { additionalOperations } = item as { additionalOperations?: unknown };
    if (typeof additionalOperations !== 'object' || additionalOperations === null) return;
    for (const method of Object.keys(additionalOperations)) {
      const message = `the gateway does not serve the method ${JSON.stringify(method)}, so this operation is left out`;
      report({ message, location: location.child(['additionalOperations', method]).key() });
    }
  },
});

const serversAreServed: Oas3Rule = () => ({
  Root(root, { report, location }) {
    const { used, others } = serverPathsOf(root);
    if (others.length === 0) return;
    const shown = others.slice(0, SHOWN_SERVERS_MAX).map((path) => path || '/');
    const more = others.length > SHOWN_SERVERS_MAX ? ', …' : '';
    const message = `paths begin with ${used || '/'}, where the first server does; those of other servers are not served: ${shown.join(', ')}${more}`;
    report({ message, location: location.child(['servers']) });
  },
});

const SHOWN_SERVERS_MAX = 5;

/** Applies a rule for schemas to Swagger 2.0, where parameters themselves have the keywords of schemas. */
function inSwagger(rule: Oas3Rule): Oas2Rule {
  return (options) => {
    const { Schema } = rule(options) as { readonly Schema: object };
    return { Schema, Parameter: Schema, ParameterItems: Schema } as ReturnType<Oas2Rule>;
  };
}

export const OWN_RULES: Plugin = {
  id: 'gateway',
  typeExtension: { oas2: withoutFurtherReferences, oas3: withoutFurtherReferences },
  rules: {
    oas2: {
      'extensions-have-a-meaning': extensionsHaveAMeaning as Oas2Rule,
      'texts-are-no-references': textsAreNoReferences as Oas2Rule,
      'operations-have-a-method': operationsHaveAMethod as Oas2Rule,
      'members-are-in-an-operation': membersAreInAnOperation as Oas2Rule,
      'statuses-exist': statusesExist as Oas2Rule,
      'parameters-are-declared-once': parametersAreDeclaredOnce as Oas2Rule,
      'paths-have-templates': pathsHaveTemplates as Oas2Rule,
      'paths-can-be-requested': pathsCanBeRequested as Oas2Rule,
      'patterns-can-run': inSwagger(patternsCanRun),
      'patterns-are-exact': inSwagger(patternsAreExact),
      'patterns-mean-what-they-say': inSwagger(patternsMeanWhatTheySay),
      'enums-have-values': inSwagger(enumsHaveValues),
      'bounds-fit-their-type': inSwagger(boundsFitTheirType),
      'formats-are-exact': inSwagger(formatsAreExact),
      'formats-are-spelt-right': inSwagger(formatsAreSpeltRight),
    },
    oas3: {
      'extensions-have-a-meaning': extensionsHaveAMeaning,
      'texts-are-no-references': textsAreNoReferences,
      'operations-have-a-method': operationsHaveAMethod,
      'members-are-in-an-operation': membersAreInAnOperation,
      'statuses-exist': statusesExist,
      'parameters-are-declared-once': parametersAreDeclaredOnce,
      'content-has-media-types': contentHasMediaTypes,
      'references-fit-their-place': referencesFitTheirPlace,
      'references-stand-alone': referencesStandAlone,
      'keywords-exist': keywordsExist,
      'parameters-have-a-schema': parametersHaveASchema,
      'paths-have-templates': pathsHaveTemplates,
      'paths-can-be-requested': pathsCanBeRequested,
      'methods-are-served': methodsAreServed,
      'servers-are-served': serversAreServed,
      'patterns-can-run': patternsCanRun,
      'patterns-are-exact': patternsAreExact,
      'patterns-mean-what-they-say': patternsMeanWhatTheySay,
      'enums-have-values': enumsHaveValues,
      'bounds-fit-their-type': boundsFitTheirType,
      'formats-are-exact': formatsAreExact,
      'formats-are-spelt-right': formatsAreSpeltRight,
      'nullable-admits-null': nullableAdmitsNull,
      'media-types-fit-headers': mediaTypesFitHeaders,
      'json-has-a-schema': jsonHasASchema,
      'header-names-fit-headers': headerNamesFitHeaders,
    },
  },
};
