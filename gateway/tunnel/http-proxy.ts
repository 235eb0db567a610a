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

export class HttpProxy {
  readonly #unread = createUnread();
  /** The report function of the latest request on each connection. */
  readonly #reports = new WeakMap<Duplex, () => void>();
  readonly #plain = createAgents(this.#unread, (socket) => this.#reports.get(socket)?.());
  /** Agents by certificates. After a change of certificates, the old connections close when they are idle. */
  readonly #secure = new Map<TunnelTls | undefined, Agents>();
  readonly #proxied = new WeakMap<IncomingMessage, ProxiedRequest>();
  readonly #middleware = createProxyMiddleware({
    // The default plugins answer errors with texts that name the upstream.
    ejectPlugins: true,
    plugins: [(proxy) => this.#listen(proxy)],
    selfHandleResponse: true,
    router: (request, response, options) => {
      const { target, tls, isolate } = this.#proxied.get(request) as ProxiedRequest;
      const { kept, alone } = target.protocol === 'https:' ? this.#secureAgentsOf(tls) : this.#plain;
      options.agent = response === undefined || isolate ? alone : kept;
      return target;
    },
  });

  /** Sends a request, whose url and headers must already be made for the upstream. */
  send(request: IncomingMessage, response: ServerResponse, proxied: ProxiedRequest): void {
    this.#proxied.set(request, proxied);
    this.#middleware(request, response, (error) => proxied.failed(error ?? new Error('not proxied'))).catch(
      (error: unknown) => proxied.failed(error),
    );
  }

  /** Sends an upgrade request. Once it is granted, bytes pass both ways. If one side ends, the other stays open. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer, proxied: ProxiedRequest): void {
    this.#proxied.set(request, proxied);
    this.#middleware.upgrade(request, socket, head);
  }

  close(): void {
    for (const { kept, alone } of [this.#plain, ...this.#secure.values()]) {
      kept.destroy();
      alone.destroy();
    }
  }

  #secureAgentsOf(tls: TunnelTls | undefined): Agents {
    const own = tls && { ca: tls.ca, cert: tls.certificate, key: tls.key, servername: tls.serverName };
    const onUnrequestedBytes = (socket: Duplex) => this.#reports.get(socket)?.();
    const agents = this.#secure.get(tls) ?? createSecureAgents(this.#unread, onUnrequestedBytes, own);
    this.#secure.set(tls, agents);
    return agents;
  }

  #listen(proxy: Parameters<Plugin>[0]): void {
    proxy.on('proxyReq', (outgoing, request) => {
      const socket = outgoing.socket as Socket;
      readBeforeFailing(socket, this.#unread, (bytes, length) =>
        socket.emit('data', Buffer.from(bytes.subarray(0, length))),
      );
      const proxied = this.#proxied.get(request);
      if (proxied !== undefined) this.#reports.set(socket, proxied.onUnrequestedBytes);
      proxied?.begun(outgoing);
    });
    proxy.on('proxyReqWs', (outgoing, request) => {
      const proxied = this.#proxied.get(request);
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
    proxy.on('proxyRes', (incoming, request) => passOn(incoming, this.#proxied.get(request)));
    // Without this listener the library would throw, and on upgrades the rejected promise would end the process.
    proxy.on('error', (error, request) => this.#proxied.get(request as IncomingMessage)?.failed(error));
    proxy.on('econnreset', (error, request) => this.#proxied.get(request)?.failed(error));
  }
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
