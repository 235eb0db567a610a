// The action of each request: the paths of the nine resources and the two of the sandbox itself. Throws route_not_found, method_not_allowed
// or resource_missing, and everything that the chosen action throws.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { RecordAnswer } from './answer.ts';
import { readRecordBody } from './body.ts';
import { RESOURCES } from './catalogue.ts';
import type { Database } from './database.ts';
import { readIdempotencyKey, type WriteMemory } from './idempotency.ts';
import { canonicalIdentifier } from './identifiers.ts';
import type { List } from './list.ts';
import { SandboxRefusal } from './refusals.ts';
import type { SandboxResource } from './resource.ts';
import type { RecordStore, Scope } from './store.ts';
import type { Clock, Write } from './write.ts';

export interface RouteParts {
  readonly database: Database;
  readonly store: RecordStore;
  readonly list: List;
  readonly write: Write;
  readonly idempotency: WriteMemory;
  readonly now: Clock;
  seed(scope: Scope): boolean;
}

export type Route = (scope: Scope, request: IncomingMessage) => Promise<RecordAnswer>;

export function createRoute(parts: RouteParts): Route {
  const { database, store, list, write, idempotency } = parts;

  function retrieve(scope: Scope, resource: SandboxResource, id: string): RecordAnswer {
    const body = store.show(scope, resource, id);
    if (body === undefined) throw new SandboxRefusal('resource_missing');
    return { status: 200, body };
  }

  async function keyed(
    scope: Scope,
    request: IncomingMessage,
    act: (body: Buffer) => RecordAnswer,
  ): Promise<RecordAnswer> {
    const key = readIdempotencyKey(request.headers['idempotency-key']?.toString());
    const body = await readRecordBody(request);
    if (key === undefined) return database.transaction(() => act(body));
    return idempotency.once(scope, key, fingerprintOf(request, body), () => act(body));
  }

  return async function route(scope, request) {
    const { path, query } = split(request.url ?? '');
    if (path === '/_sandbox/seed') {
      if (request.method !== 'POST') throw notAllowed('POST');
      return { status: 200, body: JSON.stringify({ seeded: parts.seed(scope) }) };
    }
    const { resource, id } = locate(path);
    // Here and nowhere else, so that everything below sees the statuses that clients are shown.
    if (resource.moves) store.moveOn(scope, resource, parts.now());

    const { method } = request;
    if (id === undefined) {
      if (method === 'GET' || method === 'HEAD') return { status: 200, body: list(scope, resource, query) };
      if (method === 'POST') return keyed(scope, request, (body) => write.create(scope, resource, body));
      throw notAllowed('GET, HEAD, POST');
    }
    if (method === 'GET' || method === 'HEAD') return retrieve(scope, resource, id);
    if (method === 'PATCH') return keyed(scope, request, (body) => write.update(scope, resource, id, body));
    if (method === 'DELETE') return database.transaction(() => write.remove(scope, resource, id));
    throw notAllowed('GET, HEAD, PATCH, DELETE');
  };
}

export function split(url: string): { path: string; query: string } {
  const mark = url.indexOf('?');
  return mark === -1 ? { path: url, query: '' } : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}

function locate(path: string): { resource: SandboxResource; id: string | undefined } {
  const [empty, version, name = '', id, ...rest] = path.split('/');
  const resource = Object.values(RESOURCES).find((candidate) => candidate.name === name);
  if (empty !== '' || version !== 'v1' || !resource || rest.length > 0 || id === '')
    throw new SandboxRefusal('route_not_found');
  return { resource, id: id === undefined ? undefined : decodeIdentifier(id) };
}

function decodeIdentifier(segment: string): string {
  try {
    return canonicalIdentifier(decodeURIComponent(segment));
  } catch {
    throw new SandboxRefusal('resource_missing');
  }
}

function notAllowed(allow: string): SandboxRefusal {
  return new SandboxRefusal('method_not_allowed', { headers: { allow } });
}

/** Two requests are the same if a client could have meant the same by them: method, target and body, byte by byte. */
function fingerprintOf(request: IncomingMessage, body: Buffer): string {
  return createHash('sha256').update(`${request.method} ${request.url}\n`).update(body).digest('base64url');
}
