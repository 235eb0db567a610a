// Converts Swagger 2.0 documents to OpenAPI 3.0 when they are read (docs/decisions/0024-swagger-2.md). Rules that OpenAPI 3.0 cannot
// express are changed before the conversion, so that the gateway checks less at these places and never something else. Each such place is a
// warning.

import { MULTIPART, URLENCODED } from '../media-types.ts';
import { isRecord, type JsonObject, objectAt, pathOf, uriDecoded, valueAt } from '../pointer.ts';

/** Something that the conversion could not keep, at a place of the Swagger document. */
interface Loss {
  readonly path: readonly (string | number)[];
  readonly reason: string;
  readonly remedy: string;
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;

export function isSwagger(root: unknown): root is JsonObject {
  return isRecord(root) && 'swagger' in root && !('openapi' in root);
}

/** Converts a document, and does not change it. References between files must be resolved. */
export async function convertSwagger(root: JsonObject): Promise<{ root: JsonObject; losses: readonly Loss[] }> {
  const losses: Loss[] = [];
  // As text, because YAML aliases share objects and the converter changes each object in place.
  const draft = JSON.parse(JSON.stringify(root)) as JsonObject;
  prepareAddress(draft);
  for (const [template, item] of Object.entries(objectAt(draft, 'paths'))) {
    if (template.startsWith('/') && isRecord(item)) preparePath(draft, item, ['paths', template], losses);
  }
  const shared = objectAt(draft, 'parameters');
  for (const [name, parameter] of Object.entries(shared)) {
    if (isRecord(parameter)) prepareParameter(parameter, ['parameters', name], losses);
    if (!isRecord(parameter) || isBody(parameter)) delete shared[name];
  }
  const { upgradeFromTwoToThree } = await import('@scalar/openapi-upgrader/2.0-to-3.0');
  const made = upgradeFromTwoToThree(draft) as JsonObject;
  requireForms(made);
  return { root: made, losses };
}

/** Makes a form with a required field required, because the converter does not. */
function requireForms({ paths }: JsonObject): void {
  for (const item of Object.values(isRecord(paths) ? paths : {})) {
    for (const method of METHODS) {
      const body = objectAt(objectAt(item, method), 'requestBody');
      const form = [URLENCODED, MULTIPART].map((type) => objectAt(objectAt(objectAt(body, 'content'), type), 'schema'));
      if (form.some(({ required }) => Array.isArray(required) && required.length > 0)) body.required = true;
    }
  }
}

/** Corrects the address, because many documents have a host with a scheme, or a base path without a slash. */
function prepareAddress(root: JsonObject): void {
  if (typeof root.host === 'string') root.host = root.host.replace(/^[a-z]+:\/\//i, '').replace(/\/+$/, '');
  if (root.basePath === undefined) return;
  const path = String(root.basePath).replace(/^\/+|\/+$/g, '');
  if (path === '') delete root.basePath;
  else root.basePath = `/${path}`;
}

/** Gives each operation the bodies that its path or a shared parameter declares, because the converter expects bodies at the operation. */
function preparePath(root: JsonObject, item: JsonObject, place: readonly string[], losses: Loss[]): void {
  const shared = parametersIn(root, item);
  for (const method of METHODS) {
    const operation = item[method];
    if (!isRecord(operation)) continue;
    const own = parametersIn(root, operation);
    const names = new Set(own.map(keyOf));
    const inherited = shared.filter((one) => isBody(one) && !names.has(keyOf(one)));
    const parameters = [...own, ...structuredClone(inherited)];
    prepareForm(root, operation, parameters, [...place, method], losses);
    for (const [index, parameter] of parameters.entries())
      prepareParameter(parameter, [...place, method, 'parameters', index], losses);
    if (parameters.length > 0) operation.parameters = parameters;
    delete operation.schemes;
    prepareAnswers(root, operation);
  }
  if (item.parameters === undefined) return;
  item.parameters = shared.filter((one) => !isBody(one));
  for (const [index, parameter] of (item.parameters as JsonObject[]).entries())
    prepareParameter(parameter, [...place, 'parameters', index], losses);
}

/** Returns the parameters of a path or an operation. References to bodies are replaced by copies. */
function parametersIn(root: JsonObject, owner: JsonObject): JsonObject[] {
  const list: unknown[] = Array.isArray(owner.parameters) ? owner.parameters : [];
  return list.filter(isRecord).map((parameter) => {
    if (typeof parameter.$ref !== 'string') return parameter;
    const target = valueAt(root, pathOf(uriDecoded(parameter.$ref.slice(1))));
    return isRecord(target) && isBody(target) ? structuredClone(target) : parameter;
  });
}

function keyOf({ name, in: where, $ref }: JsonObject): string {
  return where === 'body' ? 'body' : `${where} ${name} ${$ref}`;
}

function isBody(parameter: JsonObject): boolean {
  return parameter.in === 'body' || parameter.in === 'formData';
}

/** Prepares a form. If the document declares no media type for it, services accept both kinds of form; a form with a file is multipart. */
function prepareForm(
  root: JsonObject,
  operation: JsonObject,
  parameters: readonly JsonObject[],
  place: readonly string[],
  losses: Loss[],
): void {
  const fields = parameters.filter((one) => one.in === 'formData');
  if (fields.length === 0) return;
  const consumes: unknown = operation.consumes ?? root.consumes;
  const types: unknown[] = Array.isArray(consumes) ? consumes : [];
  if (types.includes(URLENCODED) || types.includes(MULTIPART)) return;
  operation.consumes = fields.some(({ type }) => type === 'file') ? [MULTIPART] : [URLENCODED, MULTIPART];
  const reason = `the operation takes a form, and does not say in which media type: ${(operation.consumes as string[]).join(' or ')} is taken.`;
  losses.push({ path: place, reason, remedy: 'Add consumes with the media type of the form.' });
}

/** Prepares a parameter. A list becomes a text if OpenAPI 3.0 has no style for its separator. */
function prepareParameter(parameter: JsonObject, place: readonly (string | number)[], losses: Loss[]): void {
  if (parameter.type !== 'array') return;
  const { collectionFormat, items, in: where } = parameter;
  const isKnown = where === 'query' || where === 'formData' ? /^(csv|ssv|pipes|multi)$/ : /^csv$/;
  const remedy = 'No action is needed, unless the gateway has to check the items.';
  if (collectionFormat !== undefined && !isKnown.test(String(collectionFormat))) {
    for (const name of ['items', 'minItems', 'maxItems', 'uniqueItems', 'collectionFormat', 'default', 'enum'])
      delete parameter[name];
    parameter.type = 'string';
    const reason = `OpenAPI 3.0 has no form for collectionFormat ${collectionFormat} here, so the list is passed on as a text, unchecked.`;
    losses.push({ path: place, reason, remedy });
  } else if (isRecord(items) && items.type === 'array') {
    parameter.items = { type: 'string' };
    const reason = 'OpenAPI 3.0 has no form for lists in lists, so the inner lists are passed on as texts, unchecked.';
    losses.push({ path: place, reason, remedy });
  }
}

/** Prepares answers. A file without a media type gets any type. Without examples, the converter keeps all types in `produces`. */
function prepareAnswers(root: JsonObject, operation: JsonObject): void {
  const answers = Object.values(objectAt(operation, 'responses')).filter(isRecord);
  const isFile = answers.some((answer) => objectAt(answer, 'schema').type === 'file');
  if (isFile && operation.produces === undefined && root.produces === undefined) operation.produces = ['*/*'];
  for (const answer of answers) {
    const isEmpty = !isRecord(answer.schema) || Object.keys(answer.schema).length === 0;
    if (isEmpty) delete answer.examples;
  }
}

const SECTIONS: Readonly<Record<string, string>> = {
  schemas: 'definitions',
  parameters: 'parameters',
  responses: 'responses',
  securitySchemes: 'securityDefinitions',
};

/** Returns the place in the Swagger document for a place in the converted document, or the nearest place around it. */
export function toSwaggerPlace(path: readonly (string | number)[]): readonly (string | number)[] {
  const [first, second, ...rest] = path;
  if (first === 'servers') return ['basePath'];
  if (first === 'components') return second === undefined ? [] : [SECTIONS[second] ?? String(second), ...rest];
  if (first !== 'paths') return path;
  const body = path.indexOf('requestBody');
  if (body !== -1) return [...path.slice(0, body), 'parameters'];
  const parameter = path.indexOf('parameters', 2);
  // The converter leaves out bodies, so the numbers of the others change.
  if (parameter !== -1) return path.slice(0, parameter + 1);
  const content = path.indexOf('content', 2);
  return content === -1 ? path : [...path.slice(0, content), ...path.slice(content + 2)];
}
