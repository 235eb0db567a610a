// The sandbox platform: the nine resources behind the gateway, on an embedded database. Wires the parts together and turns every thrown
// value into the one error object.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { JSONWebKeySet } from 'jose';
import { type RecordAnswer, sendRecord } from './answer.ts';
import { createIdentify } from './assertion.ts';
import { RESOURCES } from './catalogue.ts';
import { createCursors } from './cursor.ts';
import { type Database, openDatabase } from './database.ts';
import { createWriteMemory } from './idempotency.ts';
import type { Random } from './identifiers.ts';
import { createLeases } from './leases.ts';
import { createList } from './list.ts';
import { SandboxRefusal } from './refusals.ts';
import { createRoute, type Route, split } from './routes.ts';
import { schemaOf } from './schema.ts';
import { createDemoSeed } from './seed.ts';
import { createStore } from './store.ts';
import { type Clock, createWrite } from './write.ts';

export interface SandboxOptions {
  /** A file, or `:memory:`. */
  readonly databasePath: string;
  /** The gateway's public keys as they are now; the same object for as long as nothing has changed. */
  trusted(): JSONWebKeySet;
  readonly issuer: string;
  /** Names under which gateways know this service; default `platform`. */
  readonly audiences?: readonly string[];
  readonly cursorSecret: string;
  readonly now?: Clock;
  readonly random?: Random;
  /** Gets the number of held leases, each time that it changes. */
  readonly onLeases?: (held: number) => void;
  /** Called when demonstration data is made. */
  readonly onSeed?: () => void;
  /** Gets faults of the sandbox itself, which clients see as internal_error without details. */
  readonly onFault?: (error: unknown) => void;
}

export interface Sandbox {
  /** Not listening yet. */
  readonly server: Server;
  close(): Promise<void>;
}

// Longer than the gateway keeps an idle connection, so that it never sends into one that is being closed.
const KEEP_ALIVE_MS = 65_000;
const DRAIN_MS = 1000;

export function createSandbox(options: SandboxOptions): Sandbox {
  const { now = Date.now, onFault = () => {} } = options;
  const database = openDatabase(options.databasePath, schemaOf(Object.values(RESOURCES)));
  const route = createParts(database, options, now);
  const identify = createIdentify(options.trusted, options.issuer, options.audiences ?? ['platform'], now);
  const leases = createLeases(options.onLeases ?? (() => {}));

  async function answer(request: IncomingMessage): Promise<RecordAnswer> {
    const assertion = request.headers['x-gateway-assertion']?.toString();
    return route(await identify(assertion), request);
  }

  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    if (request.method === 'GET' && split(request.url ?? '').path === '/_sandbox/lease') return leases.hold(response);
    answer(request).then(
      (answered) => sendRecord(response, answered),
      (error: unknown) => refuse(request, response, error, onFault),
    );
  });
  server.on('clientError', refuseMalformed);
  return { server, close: () => close(server, leases.close, database) };
}

function createParts(database: Database, options: SandboxOptions, now: Clock): Route {
  const random = options.random ?? randomBytes;
  const store = createStore(database);
  const seed = createDemoSeed(database, store, now, random);
  return createRoute({
    database,
    store,
    now,
    list: createList(database, createCursors(options.cursorSecret)),
    write: createWrite(store, now, random),
    idempotency: createWriteMemory(database, now),
    seed(scope) {
      options.onSeed?.();
      return seed(scope);
    },
  });
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  onFault: (error: unknown) => void,
): void {
  // A client that leaves in the middle of a body is no fault.
  if (request.destroyed && !request.complete) return;
  const refusal = error instanceof SandboxRefusal ? error : new SandboxRefusal('internal_error');
  if (refusal !== error) onFault(error);
  sendRecord(response, refusal);
}

function refuseMalformed(_error: Error, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { body } = new SandboxRefusal('malformed_http');
  const head = ['HTTP/1.1 400 Bad Request', 'Content-Type: application/json', 'Connection: close'];
  socket.end(`${head.join('\r\n')}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

async function close(server: Server, closeLeases: () => void, database: Database): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  closeLeases();
  server.closeIdleConnections();
  const deadline = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(deadline);
  database.close();
}
