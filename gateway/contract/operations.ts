// Contract documents → operations, with every name resolved. Whatever does not resolve is a mistake with file and line.

import type { Operation, SecurityAlternative } from '../exchange.ts';
import { type Mistake, suggest } from '../mistakes.ts';
import type { ContractDocument, JsonObject } from './document.ts';
import { extensionsOf, type KnownNames } from './extensions.ts';
import { isObject, type Located, member, objectAt } from './pointer.ts';
import { shapeOf } from './routes.ts';
import { knownScopes, securityOf } from './security.ts';

/** What an entry of upstreams.yaml says about the documents it lists (product page sections 3 and 9). */
export interface DocumentDefaults {
  readonly upstream: string;
  readonly basePath?: string | undefined;
  readonly security?: { readonly apiKey: readonly string[] } | undefined;
  readonly public?: boolean | undefined;
  readonly limit?: string | undefined;
  readonly cost?: number | undefined;
  readonly idempotency?: 'optional' | 'required' | 'off' | undefined;
  readonly body?: 'buffer' | 'stream' | undefined;
  readonly response?: 'report' | 'refuse' | 'off' | undefined;
}

/** An operation together with the place in its document where its schemas stand. */
export interface ContractOperation {
  readonly operation: Operation;
  readonly document: ContractDocument;
  readonly located: Located;
  /** Path-level parameters overridden by (name, in), references followed. */
  readonly parameters: readonly Located[];
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'] as const;

/** The operations of one document. Mistakes are pushed; operations that have one are left out. */
export function operationsOf(
  document: ContractDocument,
  defaults: DocumentDefaults,
  known: KnownNames,
  mistakes: Mistake[],
): ContractOperation[] {
  const { root } = document;
  const scopes = knownScopes(root, defaults);
  const documentSays = extensionsOf(document, [], root, known, mistakes);
  const found: ContractOperation[] = [];
  for (const template of Object.keys(objectAt(root, 'paths'))) {
    if (template.startsWith('x-')) continue;
    const item = member(root, { value: objectAt(root, 'paths'), pointer: '/paths' }, template);
    const pathSays = extensionsOf(document, ['paths', template], item.value, known, mistakes);
    for (const method of methods) {
      const located = member(root, item, method);
      if (!isObject(located.value)) continue;
      const place = ['paths', template, method];
      const says = {
        ...defaults,
        ...documentSays,
        ...pathSays,
        ...extensionsOf(document, place, located.value, known, mistakes),
      };
      const security = securityOf(document, place, located.value, says, scopes, mistakes);
      const operation = toOperation(document, template, method, located.value, says, security ?? []);
      checkBodyMode(document, place, operation, located, root, mistakes);
      if (security) found.push({ operation, document, located, parameters: parametersOf(root, item, located) });
    }
  }
  return found;
}

function toOperation(
  document: ContractDocument,
  template: string,
  method: string,
  value: JsonObject,
  says: DocumentDefaults,
  security: readonly SecurityAlternative[],
): Operation {
  const upstreamPrefix = serverPath(document.root);
  const publicPrefix = says.basePath ?? upstreamPrefix;
  const path = publicPrefix + template;
  const version = /^\/(v\d+)(\/|$)/.exec(path)?.[1];
  const { root } = document;
  const header = (located: Located) => (objectAt({ it: located.value }, 'it').in === 'header' ? [located] : []);
  const item = member(root, { value: objectAt(root, 'paths'), pointer: '/paths' }, template);
  const parameters = parametersOf(root, item, { value, pointer: '' });
  return Object.freeze({
    id: typeof value.operationId === 'string' ? value.operationId : `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
    version,
    upstream: says.upstream,
    publicPrefix,
    upstreamPrefix,
    contract: document.file,
    security: Object.freeze(security),
    cost: says.cost ?? 1,
    extraLimit: says.limit,
    idempotency: method === 'post' || method === 'patch' ? (says.idempotency ?? 'optional') : 'off',
    body: says.body ?? 'buffer',
    answerCheck: says.response ?? 'report',
    requestHeaders: Object.freeze(
      parameters.flatMap(header).map((at) => String((at.value as JsonObject).name).toLowerCase()),
    ),
    responseHeaders: responseHeadersOf(root, value),
  });
}

/** The path of the first server: the document's paths are relative to it (OpenAPI 3.1.1, section 4.8.5). */
function serverPath(root: JsonObject): string {
  const first: unknown = Array.isArray(root.servers) ? root.servers[0] : undefined;
  const url = isObject(first) && typeof first.url === 'string' ? first.url : '/';
  if (url.includes('{') || !URL.canParse(url, 'http://any')) return '';
  return new URL(url, 'http://any').pathname.replace(/\/+$/, '');
}

/** Operation parameters override path parameters by name and place, and cannot remove them (OpenAPI 3.1.1, section 4.8.10). */
function parametersOf(root: JsonObject, item: Located, operation: Located): Located[] {
  const merged = new Map<string, Located>();
  for (const owner of [item, operation]) {
    const list = member(root, owner, 'parameters');
    if (!Array.isArray(list.value)) continue;
    for (const index of list.value.keys()) {
      const located = member(root, list, index);
      if (isObject(located.value)) merged.set(`${located.value.in} ${located.value.name}`, located);
    }
  }
  return [...merged.values()];
}

function responseHeadersOf(root: JsonObject, operation: JsonObject): ReadonlySet<string> {
  const names = new Set<string>();
  const responses: Located = { value: objectAt(operation, 'responses'), pointer: '' };
  for (const status of Object.keys(responses.value as JsonObject)) {
    const response = member(root, responses, status).value;
    for (const name of Object.keys(objectAt(response, 'headers'))) names.add(name.toLowerCase());
  }
  return names;
}

function checkBodyMode(
  document: ContractDocument,
  place: readonly string[],
  operation: Operation,
  located: Located,
  root: JsonObject,
  mistakes: Mistake[],
): void {
  if (operation.body !== 'stream') return;
  const content = member(root, member(root, located, 'requestBody'), 'content').value;
  const json = Object.keys(isObject(content) ? content : {}).find((type) => /\bjson\b/.test(type));
  if (json === undefined) return;
  mistakes.push(
    document
      .position()
      .mistakeAt(
        [...place],
        `a ${json} body is checked, so it cannot be streamed.`,
        'Remove x-gateway-body: stream here, or the JSON media type.',
      ),
  );
}

/** Two operations that claim the same requests, or the same name, over all contracts together. */
export function checkClaims(operations: readonly ContractOperation[], mistakes: Mistake[]): void {
  const claims = new Map<string, ContractOperation>();
  const names = new Map<string, ContractOperation>();
  for (const entry of operations) {
    const { operation } = entry;
    const template = operation.path.slice(operation.publicPrefix.length);
    const place = ['paths', template, operation.method.toLowerCase()];
    const claim = `${operation.method} ${shapeOf(operation.path)}`;
    const first = claims.get(claim);
    if (first) {
      const reason = `${operation.method} ${operation.path} is claimed by ${first.operation.contract} already (${first.operation.id}).`;
      mistakes.push(
        entry.document
          .position()
          .mistakeAtKey(place, reason, 'Leave it in one contract only, or set another basePath.'),
      );
      continue;
    }
    claims.set(claim, entry);
    const namesake = names.get(operation.id);
    if (namesake) {
      const reason = `the operationId "${operation.id}" is taken by ${namesake.operation.contract} (${namesake.operation.method} ${namesake.operation.path}).`;
      mistakes.push(
        entry.document.position().mistakeAt([...place, 'operationId'], reason, 'Give one of them another operationId.'),
      );
    } else names.set(operation.id, entry);
  }
}

/** Operation ids in limits.yaml that no contract has. */
export function unknownOperations(
  named: Iterable<string>,
  operations: readonly ContractOperation[],
): { id: string; remedy: string }[] {
  const known = new Set(operations.map(({ operation }) => operation.id));
  return [...named].filter((id) => !known.has(id)).map((id) => ({ id, remedy: suggest(id, known) }));
}
