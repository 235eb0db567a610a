// What every version of the gateway is tried with: one small contract, and a service that counts how often it executes each write.

import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { WebSocketServer } from 'ws';

const json = { 'application/json': { schema: { type: 'object' } } };
const form = { type: 'object', properties: { name: { type: 'string' }, note: { type: 'string' } } };
const writes = (operationId: string, content: object, more: object = {}) => ({
  operationId,
  security: [{ apiKey: ['items:write'] }],
  requestBody: { required: true, content },
  responses: { 201: { description: 'done', content: json } },
  ...more,
});
const reads = (operationId: string, more: object = {}) => ({
  operationId,
  security: [{ apiKey: ['items:read'] }],
  responses: { 200: { description: 'done', content: json } },
  ...more,
});

const contract = {
  openapi: '3.1.1',
  info: { title: 'Shop', version: '1' },
  components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
  paths: {
    '/v1/items': { get: reads('listItems'), post: writes('createItem', json) },
    '/v1/forms': { post: writes('createForm', { 'multipart/form-data': { schema: form } }) },
    '/v1/exports': { post: writes('createExport', json, { 'x-gateway-limit': 'exports' }) },
    '/v1/old': { get: reads('listOld') },
    '/v1/files': {
      post: writes('uploadFile', { 'application/octet-stream': {} }, { 'x-gateway-body': 'stream' }),
    },
    '/v1/live': {
      get: reads('openSocket', { 'x-gateway-upgrade': 'websocket', responses: { 101: { description: 'open' } } }),
    },
    '/v1/events': {
      get: reads('listenToEvents', {
        responses: { 200: { description: 'events', content: { 'text/event-stream': {} } } },
      }),
    },
  },
};

/** An exact limit for each organization of the tier `exact`, and one for each key on exports. */
const limits = {
  whenStoreIsAway: 'local',
  tiers: { standard: { requests: 1_000_000, windowSeconds: 60 }, exact: { requests: 300, windowSeconds: 600 } },
  extra: { exports: { requests: 10, windowSeconds: 86_400, per: 'key' } },
};

const operations = { listOld: { deprecated: '2026-01-01', successor: 'listItems' } };

/** Requests beside the writes, in each fixture. */
export const USED = { listOld: 3, exports: 4 } as const;
export const EXPORTS_MAX = limits.extra.exports.requests;

/** Milliseconds that the service may take. The lease of a keyed write is five seconds longer. */
export const TIMEOUT_MS = 2000;

interface ShopOptions {
  /** Members of gateway.yaml. */
  readonly gateway?: Readonly<Record<string, unknown>>;
  /** Members of the entry in upstreams.yaml. */
  readonly entry?: Readonly<Record<string, unknown>>;
  /** Further files below the directory of the configuration. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A secret of the fixtures, which seals the private keys in them. */
const SECRETS = { CERTIFICATE_KEY: 'fixture'.repeat(6) };

/** The options of `startGateway` for the shop. */
export function shopAt(upstreamUrl: string, { gateway, entry, files = {} }: ShopOptions = {}) {
  return {
    gateway: { publicUrl: 'http://localhost:8080', operations, ...gateway },
    upstreams: { shop: { contracts: ['shop.yaml'], live: upstreamUrl, timeoutMs: TIMEOUT_MS, ...entry } },
    limits,
    contracts: { 'shop.yaml': contract },
    files,
    environment: SECRETS,
  };
}

/** Writes configuration and contract for any version. Returns the variables that name them, and the secrets. */
export function writeShop(directory: string, upstreamUrl: string, options: ShopOptions = {}): Record<string, string> {
  const shop = shopAt(upstreamUrl, options);
  const files = {
    'config/gateway.yaml': JSON.stringify(shop.gateway),
    'config/upstreams.yaml': JSON.stringify({ upstreams: shop.upstreams }),
    'config/limits.yaml': JSON.stringify(limits),
    'openapi/shop.yaml': JSON.stringify(contract),
    ...Object.fromEntries(Object.entries(shop.files).map(([name, text]) => [`config/${name}`, text])),
  };
  for (const [file, text] of Object.entries(files)) {
    const path = join(directory, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return {
    GATEWAY_CONFIG: join(directory, 'config'),
    GATEWAY_CONTRACTS: join(directory, 'openapi'),
    ...SECRETS,
  };
}

export interface ShopService {
  readonly url: string;
  /** How often each `Idempotency-Key` was executed. */
  readonly runs: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/**
 * Executes every write that it gets. A body names what else it does: `refuse` answers 422, `long` more than is kept, `cut` breaks the
 * connection after the execution, `hang` never answers, `{"id":…}` stands for its key. Events come every 100 ms; WebSockets echo.
 */
export async function startShopService(): Promise<ShopService> {
  const runs = new Map<string, number>();
  let executed = 0;
  const server: Server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces).toString('latin1');
    const [, id = ''] = /^\{"id":"([^"]+)"/.exec(body) ?? [];
    const key = String(request.headers['idempotency-key'] ?? id).replaceAll('"', '');
    if (request.method === 'POST' && key !== '') runs.set(key, (runs.get(key) ?? 0) + 1);
    const does = (what: string) => body.startsWith(`{"${what}"`);
    if (does('hang')) return;
    if (request.url === '/v1/events') return sendEvents(response);
    if (does('cut')) return void request.socket.destroy();
    executed += 1;
    const status = request.method !== 'POST' ? 200 : does('refuse') ? 422 : 201;
    const answer = does('refuse')
      ? { error: { message: 'no such thing' } }
      : { number: executed, bytes: body.length, ...(does('long') && { text: 'x'.repeat(100_000) }) };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => socket.on('message', (message) => socket.send(String(message))));
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    runs,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function sendEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const sending = setInterval(() => response.write('data: {}\n\n'), 100);
  response.once('close', () => clearInterval(sending));
}

/** Writes that a fixture holds, by their `Idempotency-Key`; each is repeated byte for byte. */
export const WRITES = {
  item: { path: '/v1/items', body: '{"name":"a"}', type: 'application/json' },
  form: {
    path: '/v1/forms',
    body: '--XX\r\nContent-Disposition: form-data; name="name"\r\n\r\nhello\r\n--XX--\r\n',
    type: 'multipart/form-data; boundary=XX',
  },
  refused: { path: '/v1/items', body: '{"refuse":true}', type: 'application/json' },
  long: { path: '/v1/items', body: '{"long":true}', type: 'application/json' },
  cut: { path: '/v1/items', body: '{"cut":true}', type: 'application/json' },
  running: { path: '/v1/items', body: '{"hang":true}', type: 'application/json' },
} as const;

interface ShopAnswer {
  readonly status: number;
  readonly replayed: boolean;
  readonly text: string;
  readonly error: { readonly code?: string; readonly retryable?: boolean; readonly [member: string]: unknown };
}

/** One request. Rejects if there is no answer. */
export async function askShop(port: number, key: string, line: string, init: RequestInit = {}): Promise<ShopAnswer> {
  const [method = '', path = ''] = line.split(' ');
  const headers = { authorization: `Bearer ${key}`, ...init.headers };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { ...init, method, headers });
  const text = await answer.text();
  const { error = {} } = (text.startsWith('{') ? JSON.parse(text) : {}) as { error?: ShopAnswer['error'] };
  return { status: answer.status, replayed: answer.headers.get('idempotent-replayed') === 'true', text, error };
}

/** Sends one of the writes. @param as its `Idempotency-Key`; default: its name */
export function sendWrite(
  port: number,
  key: string,
  name: keyof typeof WRITES,
  as: string = name,
): Promise<ShopAnswer> {
  const { path, body, type } = WRITES[name];
  return askShop(port, key, `POST ${path}`, { body, headers: { 'content-type': type, 'idempotency-key': as } });
}
