// The only module that uses http-proxy-middleware, which opens connections and pipes bodies to the upstream. A `ProxiedRequest`, one for
// each exchange, decides headers, deadlines and the handling of failures.

import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createProxyMiddleware, type Plugin } from 'http-proxy-middleware';
import { contain } from '../shared/faults.ts';
import { createUnread } from '../sockets/unread-bytes.ts';
import { readBeforeFailing } from '../sockets/waiting-answer.ts';
import { type Agents, createAgents, createSecureAgents } from './agents.ts';

/**
 * TLS settings for https:// targets, in PEM. Without them, the default certificate authorities are trusted and no client certificate is
 * sent.
 */
export interface TunnelTls {
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  readonly serverName?: string | undefined;
}

export interface ProxiedRequest {
  /**
   * The origin, without a path. It must be the same object for the same upstream, because parsing a URL costs more than everything else
   * here.
   */
  readonly target: URL;
  /** The TLS settings. They must be the same object for the same certificates, because connections are grouped by this object. */
  readonly tls: TunnelTls | undefined;
  /** Whether the request gets a new connection. */
  readonly isolate: boolean;
  /**
   * Called if the connection delivers bytes that no request asked for. The call may come long after the exchange, so the function must not
   * refer to the exchange, which would stay in memory.
   */
  readonly onUnrequestedBytes: () => void;
  /** Called when the request has a connection, which may still be opening. No byte has been sent. */
  begun(outgoing: ClientRequest): void;
  /** Called with the head of the answer; for an upgrade only if it is refused. The implementation passes the answer on. */
  answered(incoming: IncomingMessage): void;
  /** Called when the request has failed. This can happen at any time, and more than once. */
  failed(error: unknown): void;
}

export interface HttpProxy {
  /** Sends a request, whose url and headers must already be made for the upstream. */
  send(request: IncomingMessage, response: ServerResponse, proxied: ProxiedRequest): void;
  /** Sends an upgrade request. Once it is granted, bytes pass both ways. If one side ends, the other stays open. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer, proxied: ProxiedRequest): void;
  close(): void;
}

export function createHttpProxy(): HttpProxy {
  const unread = createUnread();
  /** The report function of the latest request on each connection. */
  const reports = new WeakMap<Duplex, () => void>();
  const onUnrequestedBytes = (socket: Duplex) => reports.get(socket)?.();
  const plain = createAgents(unread, onUnrequestedBytes);
  /** Agents by certificates. After a change of certificates, the old connections close when they are idle. */
  const secure = new Map<TunnelTls | undefined, Agents>();
  const proxiedRequests = new WeakMap<IncomingMessage, ProxiedRequest>();

  function secureAgentsOf(tls: TunnelTls | undefined): Agents {
    const own = tls && { ca: tls.ca, cert: tls.certificate, key: tls.key, servername: tls.serverName };
    const agents = secure.get(tls) ?? createSecureAgents(unread, onUnrequestedBytes, own);
    secure.set(tls, agents);
    return agents;
  }

  const listen: Plugin = (proxy) => {
    proxy.on('proxyReq', (outgoing, request) => {
      const socket = outgoing.socket as Socket;
      readBeforeFailing(socket, unread, (bytes, length) => socket.emit('data', Buffer.from(bytes.subarray(0, length))));
      const proxied = proxiedRequests.get(request);
      if (proxied !== undefined) reports.set(socket, proxied.onUnrequestedBytes);
      proxied?.begun(outgoing);
    });
    proxy.on('proxyReqWs', (outgoing, request) => {
      const proxied = proxiedRequests.get(request);
      outgoing.once('response', (incoming) => {
        // The library ignores an answer that is marked as upgraded. Otherwise it would write the answer with other headers.
        Object.assign(incoming, { upgrade: true });
        passOn(incoming, proxied);
      });
      outgoing.once('socket', () => {
        // This listener runs after the library's listener, and resets the mark, because Node reads it next.
        outgoing.once('response', (incoming) => Object.assign(incoming, { upgrade: false }));
        proxied?.begun(outgoing);
      });
    });
    proxy.on('proxyRes', (incoming, request) => passOn(incoming, proxiedRequests.get(request)));
    // Without this listener the library would throw, and on upgrades the rejected promise would end the process.
    proxy.on('error', (error, request) => proxiedRequests.get(request as IncomingMessage)?.failed(error));
    proxy.on('econnreset', (error, request) => proxiedRequests.get(request)?.failed(error));
  };

  const middleware = createProxyMiddleware({
    // The default plugins answer errors with texts that name the upstream.
    ejectPlugins: true,
    plugins: [listen],
    selfHandleResponse: true,
    router(request, response, options) {
      const { target, tls, isolate } = proxiedRequests.get(request) as ProxiedRequest;
      const { kept, alone } = target.protocol === 'https:' ? secureAgentsOf(tls) : plain;
      options.agent = response === undefined || isolate ? alone : kept;
      return target;
    },
  });

  return {
    send(request, response, proxied) {
      proxiedRequests.set(request, proxied);
      middleware(request, response, (error) => proxied.failed(error ?? new Error('not proxied'))).catch(
        (error: unknown) => proxied.failed(error),
      );
    },
    upgrade(request, socket, head, proxied) {
      proxiedRequests.set(request, proxied);
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

/** Passes an event on. An error that is thrown in an event of Node's client would end the process, so it is caught. */
function passOn(incoming: IncomingMessage, proxied: ProxiedRequest | undefined): void {
  contain(
    () => proxied?.answered(incoming),
    (thrown) => {
      incoming.destroy();
      proxied?.failed(thrown);
    },
  );
}
