// An upstream whose answers stay open under the control of a test, and the contract of its streams.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before } from 'node:test';
import { type Connection, openConnection, requestOf } from '../../support/connection.ts';
import { type GatewayOptions, startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';

const response = (content: object) => ({ 200: { description: 'items, as they come', content } });
const operation = (operationId: string, content: object, more: object = {}) => ({
  operationId,
  security: [{ apiKey: ['events:read'] }],
  responses: response(content),
  ...more,
});
const event = {
  type: 'object',
  required: ['data'],
  properties: {
    data: {
      type: 'string',
      contentMediaType: 'application/json',
      contentSchema: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
    },
  },
};
const line = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };

/** Operations with answers that are streams. */
export const streamPaths: Record<string, object> = {
  '/v1/events': { get: operation('readEvents', { 'text/event-stream': {} }) },
  '/v1/lines': { get: operation('readLines', { 'application/x-ndjson': {} }) },
  '/v1/described': { get: operation('readDescribed', { 'text/event-stream': { itemSchema: event } }) },
  '/v1/strict-lines': {
    get: operation(
      'readStrictLines',
      { 'application/jsonl': { itemSchema: line } },
      { 'x-gateway-response': 'refuse' },
    ),
  },
  '/v1/answers': {
    post: operation(
      'ask',
      { 'application/json': { schema: {} }, 'text/event-stream': {} },
      { requestBody: { content: { 'application/json': { schema: {} } } } },
    ),
  },
};

interface LiveUpstream {
  readonly url: string;
  readonly requests: readonly IncomingMessage[];
  /** The answer to the next request that comes, before its head. */
  next(): Promise<ServerResponse>;
  close(): Promise<void>;
}

async function startLiveUpstream(): Promise<LiveUpstream> {
  const requests: IncomingMessage[] = [];
  const waiting: ((response: ServerResponse) => void)[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const take = waiting.shift();
    if (take !== undefined) take(response);
    else response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    next: () => new Promise((resolve) => waiting.push(resolve)),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface StreamWorld {
  readonly gateway: TestGateway;
  readonly upstream: LiveUpstream;
  /** Opens a stream: the upstream's answer, with this media type in its head, and the client's connection. */
  open(path?: string, options?: OpenOptions): Promise<{ readonly client: Connection; readonly answer: ServerResponse }>;
  close(): Promise<void>;
}

interface OpenOptions {
  readonly type?: string;
  readonly key?: string;
  readonly headers?: Record<string, string>;
  readonly line?: string;
  readonly body?: string;
}

export async function createStreamWorld(
  options: GatewayOptions = {},
  entry: object = {},
  paths: Record<string, object> = streamPaths,
): Promise<StreamWorld> {
  const upstream = await startLiveUpstream();
  const gateway = await startGateway({ ...thingsAt(upstream.url, entry, paths), ...options });
  const { authorization } = await gateway.authorize();
  const connections: Connection[] = [];
  return {
    gateway,
    upstream,
    async open(
      path = '/v1/events',
      { type = 'text/event-stream', key, headers = {}, line = `GET ${path}`, body } = {},
    ) {
      const next = upstream.next();
      const client = await openConnection(gateway.port);
      connections.push(client);
      const Authorization = key === undefined ? authorization : `Bearer ${key}`;
      client.send(requestOf(line, { Authorization, ...headers }, body));
      const refused = Promise.withResolvers<never>();
      const readRefusal = () =>
        void client.answer().then((refusal) => refused.reject(new Error(String(refusal?.body))));
      client.socket.once('data', readRefusal).once('end', readRefusal);
      const answer = await Promise.race([next, refused.promise]);
      // The test reads the answer.
      client.socket.off('data', readRefusal).off('end', readRefusal);
      answer.writeHead(200, { 'Content-Type': type }).flushHeaders();
      return { client, answer };
    },
    async close() {
      for (const connection of connections) connection.destroy();
      await gateway.stop();
      await upstream.close();
    },
  };
}

/**
 * Starts one world for a file or a suite, and lends it to one test after another: each sees the requests and log lines of its own alone,
 * and returns it without open streams.
 */
export function lendsStreamWorld(): () => StreamWorld {
  let world: StreamWorld;
  before(async () => {
    world = await createStreamWorld();
  });
  after(() => world.close());
  return function lend() {
    const { gateway, upstream } = world;
    const [linesBefore, requestsBefore] = [gateway.logLines().length, upstream.requests.length];
    const connections: Connection[] = [];
    return {
      gateway: { ...gateway, logLines: () => gateway.logLines().slice(linesBefore) },
      upstream: {
        ...upstream,
        get requests() {
          return upstream.requests.slice(requestsBefore);
        },
      },
      async open(...given) {
        const opened = await world.open(...given);
        connections.push(opened.client);
        return opened;
      },
      async close() {
        for (const connection of connections) connection.destroy();
        let open: number;
        do {
          const answer = await fetch(`${gateway.adminUrl}/status`);
          const { open_streams } = (await answer.json()) as { open_streams: Readonly<Record<string, number>> };
          open = Object.values(open_streams).reduce((sum, count) => sum + count, 0);
        } while (open > 0);
      },
    };
  };
}

/** Waits until these bytes have arrived. */
export async function seen(connection: Connection, text: string): Promise<void> {
  while (!connection.rest().includes(text)) {
    const isOver = await Promise.race([
      new Promise<false>((resolve) => connection.socket.once('data', () => resolve(false))),
      connection.closed.then(() => true),
    ]);
    if (isOver && !connection.rest().includes(text)) throw new Error(`closed before ${JSON.stringify(text)}`);
  }
}
