// The one place that knows http-proxy-middleware: it finds the connection and pipes bodies to the upstream. What is said in either
// direction, how long is waited and what happens when it fails is decided by a passage, one for each exchange.

import http, { type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { createProxyMiddleware, type Plugin } from 'http-proxy-middleware';

/** For https:// targets, in PEM; without it, whom everybody believes is believed, and nothing is shown. */
export interface TunnelTls {
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  readonly serverName?: string | undefined;
}

export interface Passage {
  /** Without path. Always the same object for the same upstream, since making one costs more than all the rest here. */
  readonly target: URL;
  /** Always the same object for the same certificates, since connections belong to it. */
  readonly tls: TunnelTls | undefined;
  /** The request has a connection, which may not be open yet. Nothing of it has been sent. */
  begun(outgoing: ClientRequest): void;
  /** The answer has begun; of an upgrade only if it is refused. Whoever implements this passes it on. */
  answered(incoming: IncomingMessage): void;
  /** May come at any time, and several times. */
  failed(error: unknown): void;
}

export interface Line {
  /** Sends a request whose url and headers are those for the upstream. */
  send(request: IncomingMessage, response: ServerResponse, passage: Passage): void;
  /** The same for an upgrade. Once it is granted, bytes pass both ways; a side that ends leaves the other one open. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer, passage: Passage): void;
  close(): void;
}

/** Less than the 5 s after which many servers close idle connections, so that none is used just then. */
const IDLE_MS = 4000;

export function createLine(): Line {
  const pooled = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 64 };
  // What closes its half of a WebSocket may still be written to.
  const alone = { keepAlive: false, allowHalfOpen: true };
  const plain = { request: new http.Agent(pooled), upgrade: new http.Agent(alone) };
  const secure = createSecureAgents({ pooled, alone });
  const passages = new WeakMap<IncomingMessage, Passage>();

  const listen: Plugin = (proxy) => {
    proxy.on('proxyReq', (outgoing, request) => passages.get(request)?.begun(outgoing));
    proxy.on('proxyReqWs', (outgoing, request) => {
      const passage = passages.get(request);
      outgoing.once('response', (incoming) => {
        // The library leaves alone what it takes for upgraded; otherwise it would write this answer with headers of its own choice.
        Object.assign(incoming, { upgrade: true });
        passage?.answered(incoming);
      });
      outgoing.once('socket', () => {
        // After the library's listener: Node itself looks at this next.
        outgoing.once('response', (incoming) => Object.assign(incoming, { upgrade: false }));
        passage?.begun(outgoing);
      });
    });
    proxy.on('proxyRes', (incoming, request) => passages.get(request)?.answered(incoming));
    // With this listener nothing is thrown and nobody else is told: a promise that rejects would end the process on upgrades.
    proxy.on('error', (error, request) => passages.get(request as IncomingMessage)?.failed(error));
    proxy.on('econnreset', (error, request) => passages.get(request)?.failed(error));
  };

  const middleware = createProxyMiddleware({
    // The defaults answer errors with text that names the upstream.
    ejectPlugins: true,
    plugins: [listen],
    selfHandleResponse: true,
    router(request, response, options) {
      const { target, tls } = passages.get(request) as Passage;
      const agents = target.protocol === 'https:' ? secure.of(tls) : plain;
      options.agent = response === undefined ? agents.upgrade : agents.request;
      return target;
    },
  });

  return {
    send(request, response, passage) {
      passages.set(request, passage);
      middleware(request, response, (error) => passage.failed(error ?? new Error('not proxied'))).catch(passage.failed);
    },
    upgrade(request, socket, head, passage) {
      passages.set(request, passage);
      middleware.upgrade(request, socket, head);
    },
    close() {
      for (const agent of Object.values(plain)) agent.destroy();
      secure.close();
    },
  };
}

interface Kinds {
  readonly pooled: https.AgentOptions;
  readonly alone: https.AgentOptions;
}

/** Connections under other certificates are other connections. Those of certificates that were replaced end when they are idle. */
function createSecureAgents({ pooled, alone }: Kinds) {
  const known = new Map<TunnelTls | undefined, { readonly request: https.Agent; readonly upgrade: https.Agent }>();

  function open(tls: TunnelTls | undefined) {
    const own = tls && { ca: tls.ca, cert: tls.certificate, key: tls.key, servername: tls.serverName };
    return { request: new https.Agent({ ...pooled, ...own }), upgrade: new https.Agent({ ...alone, ...own }) };
  }

  return {
    of(tls: TunnelTls | undefined) {
      const agents = known.get(tls) ?? open(tls);
      known.set(tls, agents);
      return agents;
    },
    close() {
      for (const { request, upgrade } of known.values()) {
        request.destroy();
        upgrade.destroy();
      }
    },
  };
}
