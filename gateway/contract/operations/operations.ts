// Turns contract documents into operations and resolves all names. A name that does not resolve is a mistake with file and line.

import type { Operation, SecurityAlternative } from '../../exchange/operation.ts';
import { streamKindOf } from '../../shared/http/words.ts';
import type { Mistake } from '../../shared/mistakes.ts';
import { successTypes } from '../media-types.ts';
import { pathStylesOf } from '../parameters/path-styles.ts';
import { isRecord, type JsonObject, type LocatedValue, member, objectAt } from '../pointer.ts';
import type { ContractDocument } from '../reading/document.ts';
import { type CrossingDefaults, crossingOf } from './crossing.ts';
import { type Extensions, extensionsOf, type KnownNames } from './extensions.ts';
import { checkOperation } from './operation-checks.ts';
import { restParameterOf } from './rest-parameter.ts';
import { isRequestable } from './routes.ts';
import { isPublicInDocument, knownScopes, operationSecurity, type SecuritySettings } from './security.ts';
import { type MappedServer, mappedServer, type ServerMapping, serverOfDocument, serverOfOperation } from './servers.ts';

/** The settings of an upstreams.yaml entry for the documents that it lists. */
export interface DocumentDefaults extends SecuritySettings, CrossingDefaults {
  readonly basePath?: string | undefined;
  readonly health?: { readonly path: string } | undefined;
  /** Clients may present the user name and password that the gateway uses at this upstream instead of a key. */
  readonly acceptsBasic?: boolean | undefined;
  readonly limit?: string | undefined;
  readonly cost?: number | undefined;
  readonly idempotency?: 'optional' | 'required' | 'off' | undefined;
  readonly body?: 'buffer' | 'stream' | undefined;
  readonly response?: 'report' | 'refuse' | 'off' | undefined;
  /** If `qualified`, operations are called `entry.operationId`, because other entries have operations of the same name. */
  readonly operationNames?: 'plain' | 'qualified' | undefined;
  readonly undeclaredQuery?: 'refuse' | 'pass' | 'drop' | undefined;
  readonly undeclaredMediaTypes?: 'report' | 'refuse' | 'off' | undefined;
  /** The servers of the documents that have their own upstream. */
  readonly serverMappings?: readonly ServerMapping[] | undefined;
  /** Settings of single operations, by operationId. They have priority over the members of the contract. */
  readonly operations?: Readonly<Record<string, OperationSettings>> | undefined;
}

interface OperationSettings {
  readonly restOfPath?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly body?: 'buffer' | 'stream' | undefined;
  /** False for an operation that is left out. */
  readonly serve?: boolean | undefined;
}

/** An operation and the place of its schemas in its document. */
export interface ContractOperation {
  readonly operation: Operation;
  readonly document: ContractDocument;
  readonly located: LocatedValue;
  /** Path parameters, overridden by operation parameters of the same name and place; references resolved. */
  readonly parameters: readonly LocatedValue[];
}

const PATH_ITEM_METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'] as const;

/** The input for one operation. */
interface Draft {
  readonly document: ContractDocument;
  readonly template: string;
  readonly method: string;
  readonly located: LocatedValue;
  readonly value: JsonObject;
  readonly parameters: readonly LocatedValue[];
  /** The entry of upstreams.yaml that lists the document. */
  readonly entry: string;
  readonly restOfPath: string | undefined;
  readonly says: DocumentDefaults & Pick<OperationSettings, 'timeoutMs'> & Pick<Extensions, 'upgrade' | 'once'>;
  /** The path of its server. */
  readonly serverPath: string;
  /** The upstream to which its server is mapped. */
  readonly mapped: MappedServer | undefined;
  /** The path in the addresses of its upstream; undefined if they have none. */
  readonly addressPath: string | undefined;
}

/**
 * Yields the operations of one document. Pushes mistakes; an operation without valid security is left out.
 *
 * @param onLeftOut called with the name of each operation that the entry leaves out
 */
export function* operationsOf(
  document: ContractDocument,
  defaults: DocumentDefaults,
  known: KnownNames,
  mistakes: Mistake[],
  onLeftOut: (name: string) => void = () => undefined,
): Generator<ContractOperation> {
  const { root } = document;
  const scopes = knownScopes(root, defaults);
  const documentSays = extensionsOf(document, [], root, known, mistakes);
  for (const template of Object.keys(objectAt(root, 'paths'))) {
    if (template.startsWith('x-') || !isRequestable(template)) continue;
    const item = member(root, { value: root.paths, pointer: '/paths' }, template);
    const pathSays = extensionsOf(document, ['paths', template], item.value, known, mistakes);
    for (const method of PATH_ITEM_METHODS) {
      const located = member(root, item, method);
      const { value } = located;
      if (!isRecord(value)) continue;
      const place = ['paths', template, method];
      const own = { ...documentSays, ...pathSays, ...extensionsOf(document, place, value, known, mistakes) };
      const mappings = (own.upstream ?? defaults.upstream) === defaults.upstream ? defaults.serverMappings : undefined;
      const server = serverOfOperation(root, item.value, value, mappings);
      const [name, special] = settingsOf(defaults, value, method, (defaults.basePath ?? server.path) + template);
      if (special.serve === false) {
        onLeftOut(name);
        continue;
      }
      const timeoutMs = special.timeoutMs ?? own.timeoutMs;
      const body = special.body ?? own.body ?? defaults.body;
      const says = { ...defaults, ...own, timeoutMs, body };
      const parameters = parametersOf(root, item, located);
      // Basic credentials belong to the document's own upstream, so they do not apply to an operation that names another upstream.
      const acceptsBasic = defaults.acceptsBasic === true && says.upstream === defaults.upstream;
      const settings = { document, place, operation: value, says, own, scopes, acceptsBasic };
      const security = operationSecurity(settings, mistakes);
      const { restOfPath: named } = special;
      const restOfPath = restParameterOf({ document, place, template, parameters, restOfPath: named }, mistakes);
      const draft = {
        document,
        template,
        method,
        located,
        value,
        parameters,
        says,
        entry: defaults.upstream,
        restOfPath,
        serverPath: server.path,
        mapped: mappedServer(server, mappings ?? []),
        addressPath: known.addressPaths?.[says.upstream],
      };
      if (says.upstream !== defaults.upstream && known.ownUpstreams?.includes(says.upstream)) {
        const reason = `"${says.upstream}" is the gateway itself, which executes the operations of its own contract only.`;
        mistakes.push(document.position().mistakeAt(place, reason, 'Name the upstream of a service.'));
      }
      const operation = toOperation(draft, security ?? []);
      checkOperation({ document, place, located, operation, parameters }, mistakes);
      if (security) yield { operation, document, located, parameters };
    }
  }
}

/** Returns the name that the entry uses for this operation, and the entry's settings for it. */
function settingsOf(
  { operations = {}, upstream: entry }: DocumentDefaults,
  { operationId }: JsonObject,
  method: string,
  path: string,
): [string, OperationSettings] {
  const id = typeof operationId === 'string' ? operationId : `${method.toUpperCase()} ${path}`;
  const name = [id, `${entry}.${id}`].find((one) => Object.hasOwn(operations, one)) ?? id;
  return [name, (Object.hasOwn(operations, name) && operations[name]) || {}];
}

/** Replaces the path of the document's server by the path of the addresses. Servers of single operations stay below it. */
function withAddressPath(addressPath: string | undefined, serverPath: string, ofDocument: string): string {
  if (addressPath === undefined) return serverPath;
  const isBelow = serverPath === ofDocument || serverPath.startsWith(`${ofDocument}/`);
  return isBelow ? addressPath + serverPath.slice(ofDocument.length) : serverPath;
}

function toOperation(draft: Draft, security: readonly SecurityAlternative[]): Operation {
  const { document, template, method, value, says } = draft;
  const upstreamPrefix =
    draft.mapped?.path ?? withAddressPath(draft.addressPath, draft.serverPath, serverOfDocument(document.root).path);
  const publicPrefix = says.basePath ?? draft.serverPath;
  const path = publicPrefix + template;
  const isHealthCheck = method === 'get' && upstreamPrefix + template === says.health?.path;
  const answerCheck = says.response ?? 'report';
  // The headers and cookies that an entry lets cross are meant only for its own service.
  const entry = says.upstream === draft.entry ? says : undefined;
  const { located, parameters } = draft;
  const declaredId = typeof value.operationId === 'string' ? value.operationId : `${method.toUpperCase()} ${path}`;
  const qualifiedId = `${draft.entry}.${declaredId}`;
  return Object.freeze({
    id: says.operationNames === 'qualified' ? qualifiedId : declaredId,
    qualifiedId,
    method: method.toUpperCase(),
    path,
    version: /^\/(v\d+)(\/|$)/.exec(path)?.[1],
    restOfPath: draft.restOfPath,
    pathStyles: pathStylesOf(document.root, parameters),
    upstream: draft.mapped?.upstream ?? says.upstream,
    entry: draft.entry,
    timeoutMs: says.timeoutMs,
    publicPrefix,
    upstreamPrefix,
    contract: document.file,
    security: Object.freeze(security),
    provesCredential: !isHealthCheck && !isPublicInDocument(document.root, value),
    cost: says.cost ?? 1,
    extraLimit: says.limit,
    idempotency: method === 'post' || method === 'patch' ? (says.idempotency ?? 'optional') : 'off',
    once: says.once,
    body: says.body ?? 'buffer',
    undeclaredQuery: says.undeclaredQuery ?? 'refuse',
    streams: isStreamOnly(document.root, located),
    webSocket: says.upgrade === 'websocket' && method === 'get',
    answerCheck,
    undeclaredMediaTypes: says.undeclaredMediaTypes ?? answerCheck,
    ...crossingOf({ root: document.root, method, located, parameters, answerCheck, entry }),
  });
}

/**
 * Merges path and operation parameters. Operation parameters override path parameters by name and place and cannot remove them (OpenAPI
 * 3.1.1, section 4.8.10). Header parameters named Accept, Content-Type and Authorization are ignored (section 4.8.12.1), and so is a header
 * parameter without a name, which no client can send.
 */
function parametersOf(root: JsonObject, item: LocatedValue, operation: LocatedValue): LocatedValue[] {
  const merged = new Map<string, LocatedValue>();
  for (const owner of [item, operation]) {
    const list = member(root, owner, 'parameters');
    if (!Array.isArray(list.value)) continue;
    for (const index of list.value.keys()) {
      const located = member(root, list, index);
      const { value } = located;
      if (!isRecord(value) || (isHeader(value) && /^(accept|content-type|authorization|)$/i.test(String(value.name))))
        continue;
      merged.set(`${value.in} ${value.name}`, located);
    }
  }
  return [...merged.values()];
}

function isHeader(parameter: unknown): parameter is JsonObject {
  return isRecord(parameter) && parameter.in === 'header';
}

/** Whether successful answers are declared, and all of them as streams. */
function isStreamOnly(root: JsonObject, operation: LocatedValue): boolean {
  const types = successTypes(root, operation);
  return types.length > 0 && types.every((type) => streamKindOf(type) !== undefined);
}
