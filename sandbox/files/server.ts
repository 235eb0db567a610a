// The file service of the sandbox: uploads, ranged downloads, a stream of events and a WebSocket, each scoped by the gateway's assertion.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type Duplex, pipeline } from 'node:stream';
import type { JSONWebKeySet } from 'jose';
import { sendRecord } from '../answer.ts';
import { createIdentify, type Identify } from '../assertion.ts';
import { SandboxRefusal } from '../refusals.ts';
import { split } from '../routes.ts';
import type { Scope } from '../store.ts';
import { createFileChanges, type FileChanges } from './changes.ts';
import { readRange } from './range.ts';
import { createShelf, type Shelf, type StoredFile } from './shelf.ts';
import { createFileSockets } from './sockets.ts';

export interface FileServiceOptions {
  readonly directory: string;
  /** The gateway's public keys as they are now. */
  trusted(): JSONWebKeySet;
  readonly issuer: string;
  readonly audiences?: readonly string[];
  readonly now?: () => number;
  /** Gets faults of the service itself. */
  readonly onFault?: (error: unknown) => void;
}

export interface FileService {
  /** Not listening yet. */
  readonly server: Server;
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 65_000;
const DRAIN_MS = 1000;
const EVENTS = '/v1/file-events';
const SOCKET = '/v1/file-socket';

export function createFileService(options: FileServiceOptions): FileService {
  const { now = Date.now, onFault = () => {}, audiences = ['files'] } = options;
  const identify = createIdentify(options.trusted, options.issuer, audiences, now);
  const changes = createFileChanges();
  const sockets = createFileSockets(changes);
  const answer = createAnswer(createShelf(join(options.directory, 'files')), changes, now);

  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    // An upload takes as long as its client does: the gateway bounds it.
    requestTimeout: 0,
    shouldUpgradeCallback: ({ url }) => split(url ?? '').path === SOCKET,
  });
  server.on('request', (request, response) => {
    scopeOf(identify, request)
      .then((scope) => answer(scope, request, response))
      .catch((error: unknown) => refuse(request, response, error, onFault));
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => undefined);
    scopeOf(identify, request).then(
      (scope) => sockets.open(scope, request, socket, head),
      () => socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'),
    );
  });
  return {
    server,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      changes.close();
      sockets.close();
      server.closeIdleConnections();
      const deadline = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      await closed;
      clearTimeout(deadline);
    },
  };
}

function scopeOf(identify: Identify, { headers }: IncomingMessage): Promise<Scope> {
  return identify(headers['x-gateway-assertion']?.toString());
}

type Answer = (scope: Scope, request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

function createAnswer(shelf: Shelf, changes: FileChanges, now: () => number): Answer {
  const tell = (scope: Scope, type: 'file.saved' | 'file.deleted', name: string) =>
    changes.tell(scope, { type, name, at: new Date(now()).toISOString() });

  async function save(scope: Scope, name: string, request: IncomingMessage, response: ServerResponse) {
    const facts = await shelf.keep(scope, name, request);
    tell(scope, 'file.saved', name);
    sendRecord(response, { status: 200, body: JSON.stringify(facts) });
  }

  function remove(scope: Scope, name: string, response: ServerResponse) {
    if (!shelf.remove(scope, name)) throw new SandboxRefusal('resource_missing');
    tell(scope, 'file.deleted', name);
    sendRecord(response, { status: 200, body: JSON.stringify({ name, deleted: true }) });
  }

  return function answer(scope, request, response) {
    const { method = '' } = request;
    const { path } = split(request.url ?? '');
    if (method === 'GET' && path === EVENTS) return changes.stream(scope, lastIdOf(request), response);
    if (method === 'GET' && path === '/v1/files')
      return sendRecord(response, { status: 200, body: JSON.stringify({ data: shelf.list(scope) }) });
    const [, name] = /^\/v1\/files\/([A-Za-z0-9][A-Za-z0-9._-]{0,99})$/.exec(path) ?? [];
    if (name === undefined) throw new SandboxRefusal('route_not_found');
    if (method === 'PUT') return save(scope, name, request, response);
    if (method === 'DELETE') return remove(scope, name, response);
    if (method !== 'GET' && method !== 'HEAD') throw new SandboxRefusal('method_not_allowed');
    const file = shelf.find(scope, name);
    if (file === undefined) throw new SandboxRefusal('resource_missing');
    sendFile(file, request, response);
  };
}

function lastIdOf({ headers }: IncomingMessage): number | undefined {
  const text = headers['last-event-id'];
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** RFC 9110, sections 13 and 14: conditions first, then the range, which holds only for the client's version of the file. */
function sendFile(file: StoredFile, { method, headers }: IncomingMessage, response: ServerResponse): void {
  const { size, etag } = file;
  const common = {
    etag,
    'accept-ranges': 'bytes',
    'cache-control': 'no-cache',
    'last-modified': new Date(file.updated_at).toUTCString(),
  };
  if (headers['if-none-match'] === etag) {
    response.writeHead(304, common).end();
    return;
  }
  const condition = headers['if-range'];
  const holds = condition === undefined || condition === etag;
  const range = method === 'GET' && holds ? readRange(headers.range, size) : undefined;
  if (range === 'none') {
    response.writeHead(416, { ...common, 'content-range': `bytes */${size}`, 'content-length': 0 }).end();
    return;
  }
  const { first, last } = range ?? { first: 0, last: size - 1 };
  response.writeHead(range ? 206 : 200, {
    ...common,
    ...(range && { 'content-range': `bytes ${first}-${last}/${size}` }),
    'content-type': 'application/octet-stream',
    'content-length': last - first + 1,
  });
  if (method === 'HEAD' || size === 0) response.end();
  // A client that leaves in the middle of a download is no fault.
  else pipeline(file.read(first, last), response, () => undefined);
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  onFault: (error: unknown) => void,
): void {
  if (request.destroyed && !request.complete) return;
  const refusal = error instanceof SandboxRefusal ? error : new SandboxRefusal('internal_error');
  if (refusal !== error) onFault(error);
  // The rest of a body that was refused is not read.
  const headers = request.complete ? refusal.headers : { ...refusal.headers, connection: 'close' };
  sendRecord(response, { status: refusal.status, body: refusal.body, headers });
}
