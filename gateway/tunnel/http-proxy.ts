// The one place that knows http-proxy-middleware: it finds the connection and pipes bodies to the upstream. What is said in either
// direction, how long is waited and what happens when it fails is decided by a passage, one for each exchange.

import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createProxyMiddleware, type Plugin } from 'http-proxy-middleware';
import { createUnread } from '../unread.ts';
import { type Agents, createAgents, createSecureAgents } from './agents.ts';

/** For https:// targets, in PEM; without it, whom everybody believes is believed, and nothing is shown. */
export interface TunnelTls {
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  readonly serverName?: string | undefined;
}

export interface ProxiedRequest {
  /** Without path. Always the same object for the same upstream, since making one costs more than all the rest here. */
  readonly target: URL;
  /** Always the same object for the same certificates, since connections belong to it. */
  readonly tls: TunnelTls | undefined;
  /** The connection is for nothing else. */
  readonly isolate: boolean;
  /** The request has a connection, which may not be open yet. Nothing of it has been sent. */
  begun(outgoing: ClientRequest): void;
  /** The answer has begun; of an upgrade only if it is refused. Whoever implements this passes it on. */
  answered(incoming: IncomingMessage): void;
  /** May come at any time, and several times. */
  failed(error: unknown): void;
}

export interface HttpProxy {
  /** Sends a request whose url and headers are those for the upstream. */
  send(request: IncomingMessage, response: ServerResponse, passage: ProxiedRequest): void;
  /** The same for an upgrade. Once it is granted, bytes pass both ways; a side that ends leaves the other one open. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer, passage: ProxiedRequest): void;
  close(): void;
}

export function createHttpProxy(): HttpProxy {
  const unread = createUnread();
  const plain = createAgents(unread);
  /** Connections under other certificates are other connections. Those of certificates that were replaced end when they are idle. */
  const secure = new Map<TunnelTls | undefined, Agents>();
  const passages = new WeakMap<IncomingMessage, ProxiedRequest>();

  function secureAgentsOf(tls: TunnelTls | undefined): Agents {
    const own = tls && { ca: tls.ca, cert: tls.certificate, key: tls.key, servername: tls.serverName };
    const agents = secure.get(tls) ?? createSecureAgents(unread, own);
    secure.set(tls, agents);
    return agents;
  }

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
      const { target, tls, isolate } = passages.get(request) as ProxiedRequest;
      const { kept, alone } = target.protocol === 'https:' ? secureAgentsOf(tls) : plain;
      options.agent = response === undefined || isolate ? alone : kept;
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
      for (const { kept, alone } of [plain, ...secure.values()]) {
        kept.destroy();
        alone.destroy();
      }
    },
  };
}
