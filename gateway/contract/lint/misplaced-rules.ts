// The lint rules about wrong names, such as a method that does not exist, and about members at a wrong place. The linter itself ignores
// some of these mistakes, and reports others without saying what the author may mean. Because of each, an operation, a body, an answer or a
// check is missing.

import { isRef, type Oas3Rule, type UserContext } from '@redocly/openapi-core';
import { METHODS } from '../../shared/http/words.ts';
import { closest } from '../../shared/mistakes.ts';
import { isRecord, type JsonObject } from '../pointer.ts';

/** Rules that say more than the linter does. Its problems about unexpected members, at the same place or directly below, are left out. */
export const EXPLAINING_RULES: ReadonlySet<string> = new Set([
  'gateway/operations-have-a-method',
  'gateway/members-are-in-an-operation',
  'gateway/statuses-exist',
  'gateway/parameters-have-a-schema',
  'gateway/keywords-exist',
]);

const METHOD_NAMES = METHODS.map((method) => method.toLowerCase());
const MEMBERS_OF_PATH_ITEM = ['$ref', 'summary', 'description', 'servers', 'parameters', 'additionalOperations'];
const KNOWN_IN_PATH_ITEM = new Set([...METHOD_NAMES, ...MEMBERS_OF_PATH_ITEM]);

/** Members of an operation that decide which requests and answers pass. */
const MEMBERS_OF_OPERATION = ['operationId', 'responses', 'requestBody', 'security'];

/** An operation below a name that is not a method would not be served. */
export const operationsHaveAMethod: Oas3Rule = () => ({
  PathItem(item, { report, location }) {
    for (const [name, value] of Object.entries(item)) {
      if (KNOWN_IN_PATH_ITEM.has(name) || MEMBERS_OF_OPERATION.includes(name) || name.startsWith('x-')) continue;
      const near = closest(name, METHOD_NAMES, name.length < 4 ? 1 : 2);
      if (!isRecord(value) || (near === undefined && !isOperation(value))) continue;
      report({
        message: `${JSON.stringify(name)} is not a method, so its operation is not served`,
        suggest: near === undefined ? [] : [near],
        location: location.child([name]).key(),
      });
    }
  },
});

function isOperation(value: JsonObject): boolean {
  return MEMBERS_OF_OPERATION.some((name) => Object.hasOwn(value, name));
}

/** A member of an operation beside its method is usually indented one level too little. */
export const membersAreInAnOperation: Oas3Rule = () => ({
  PathItem(item, { report, location }) {
    for (const name of MEMBERS_OF_OPERATION) {
      if (!Object.hasOwn(item, name)) continue;
      const message = `${name} has no meaning beside the methods of a path`;
      report({ message, location: location.child([name]).key() });
    }
  },
});

const STATUS = /^([1-5](\d\d|XX)|default)$/;

/** An answer below a name that is not a status is not declared. */
export const statusesExist: Oas3Rule = () => ({
  Responses(responses, { report, location }) {
    const names = Object.keys(responses).filter((name) => !name.startsWith('x-'));
    const isNoneDeclared = !names.some((name) => STATUS.test(name));
    for (const name of names) {
      if (STATUS.test(name)) continue;
      const near = nearStatus(name);
      report({
        message: `${JSON.stringify(name)} is not a status, so its answer is not declared`,
        suggest: near === undefined ? [] : [near],
        location: location.child([name]).key(),
        forceSeverity: near !== undefined || isNoneDeclared ? 'error' : 'warn',
      });
    }
  },
});

/** Returns the status that is meant by a range in small letters, or by letters that look like digits. */
function nearStatus(name: string): string | undefined {
  const written = name.trim().toUpperCase();
  if (/^[1-5][\dX]X$|^[1-5]X\d$/.test(written)) return `${written[0]}XX`;
  const digits = written.replaceAll('O', '0').replace(/[IL]/g, '1');
  return /^[1-5]\d\d$/.test(digits) ? digits : closest(name, ['default']);
}

/** Keywords of schemas that Swagger 2.0 has in the parameter itself. */
const KEYWORDS_OF_PARAMETERS = ['type', 'format', 'enum', 'items', 'pattern', 'minimum', 'maximum', 'maxLength'];

/** From OpenAPI 3.0 on, keywords of schemas in the parameter itself have no effect, so every value passes. */
export const parametersHaveASchema: Oas3Rule = () => ({
  Parameter(parameter, { report, location }) {
    if ('schema' in parameter || 'content' in parameter) return;
    const keyword = KEYWORDS_OF_PARAMETERS.find((name) => Object.hasOwn(parameter, name));
    if (keyword === undefined) return;
    const message = `${keyword} has no effect in the parameter itself, so every value passes`;
    report({ message, location });
  },
});

/** A parameter in a path is always required (OpenAPI 3.1.1, section 4.8.12.2), and the gateway treats it so; other tools may not. */
export const pathParametersAreRequired: Oas3Rule = () => ({
  Parameter({ in: place, name, required }, { report, location }) {
    if (place !== 'path' || required === true) return;
    report({
      message: `the path parameter "${name}" is not declared as required, although every path has it`,
      location: required === undefined ? location : location.child(['required']),
    });
  },
});

/** The gateway checks only one of two declarations of a parameter. */
export const parametersAreDeclaredOnce: Oas3Rule = () => ({
  ParameterList(list: unknown, context: UserContext) {
    const seen = new Map<string, unknown>();
    for (const [index, written] of (Array.isArray(list) ? list : []).entries()) {
      const parameter = isRef(written) ? context.resolve<JsonObject>(written).node : written;
      if (!isRecord(parameter) || typeof parameter.name !== 'string') continue;
      const name = parameter.in === 'header' ? parameter.name.toLowerCase() : parameter.name;
      const key = JSON.stringify([parameter.in, name]);
      const text = JSON.stringify(parameter);
      const former = seen.get(key);
      seen.set(key, former ?? text);
      if (former === undefined) continue;
      context.report({
        message: `the parameter ${JSON.stringify(parameter.name)} in ${parameter.in} is there twice`,
        location: context.location.child([index]),
        // Two declarations that are the same have the effect of one.
        forceSeverity: former === text ? 'warn' : 'error',
      });
    }
  },
});

/** Types of single values. */
const SCALAR_TYPES = new Set(['string', 'number', 'integer', 'boolean']);

/** Refuses a reference in place of a text. OpenAPI does not allow such a reference; other tools insert a file there. */
export const textsAreNoReferences: Oas3Rule = () => ({
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
