// Forwards paths without a contract or API key. Client and upstream exchange their own credentials. Throws route_not_found, the codes of
// the address limit, upstream_* codes and request_timeout.

import type { Socket } from 'node:net';
import { GatewayError } from '../catalogue/errors.ts';
import type { Admitted, Arrived } from '../exchange/exchange.ts';
import type { StreamEnd } from '../exchange/findings.ts';
import type { TrailNotes } from '../exchange/notes.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import { HttpProxy, type TunnelTls } from './http-proxy.ts';
import { hasEndedWaiting, type NodeAdmitted, setUpstreamRequest } from './proxied-exchange.ts';
import { proxyRequest } from './proxy-request.ts';
import type { Tunnel } from './table.ts';
import { tunnelRequestHeaders, upgradeHeaders } from './tunnel-headers.ts';
import { createTunnelTargets, type TunnelTargets, type TunnelTargetsOptions } from './tunnel-targets.ts';
import { type UpgradeOptions, upgrade } from './upgrade.ts';

/** Limits requests and failures per client address. */
interface TunnelAddressLimit {
  /** @param credential the credential of the request, if it can be guessed */
  enter(admitted: Admitted, credential: string | undefined): Awaitable<TunnelVisit>;
}

/** A request inside the limit. */
interface TunnelVisit {
  /** Call it with the head of the answer. `status` is undefined if the answer shows nothing about a login. */
  answered(status: number | undefined): void;
  /** Call it if the client has left before the answer, or does not finish its request. */
  abandoned(): void;
  /** Call it once, when the request has ended. */
  leave(): void;
}

interface TunnelsOptions extends TunnelTargetsOptions {
  /** Whether each request gets its own connection, because of bytes that no request asked for. upstream/targets/target-set.ts */
  isIsolated(upstream: string): boolean;
  /** Called when a connection of the upstream has delivered bytes that no request asked for. upstream/targets/target-set.ts */
  onUnrequestedBytes(upstream: string): void;
  /** Returns the limit of addresses for a tunnel (limits/addresses/address-limit.ts). */
  addressLimitOf(tunnel: Tunnel): TunnelAddressLimit;
  /** Returns the `traceparent` of an attempt, and writes its ids into the trail (observe/tracing/tracing.ts). */
  traceparentFor(trail: TrailNotes): string;
  /** Writes the error answer. edge/refusal/refusals.ts */
  refuse(arrived: Arrived, error: GatewayError): void;
  /**
   * Ends a stream when the gateway's key or token that its client shows ends (follow-caller.ts). Call the returned function when the stream
   * has ended.
   */
  followCaller(admitted: Admitted, tunnel: Tunnel, end: (why?: StreamEnd) => void): () => void;
  /** Time allowed to open a connection to an upstream. */
  readonly connectMs?: number;
}

/** A tunnel under one configuration. */
interface TunnelRoute {
  readonly tunnel: Tunnel;
  readonly tls: TunnelTls | undefined;
}

/** The request for the WebSocket of an operation. */
interface OperationUpgrade {
  readonly handshake: NonNullable<UpgradeOptions['operation']> & {
    readonly origin: string;
    /** The headers, without the fields of the connection. */
    readonly headers: Readonly<Record<string, string>>;
    readonly timeoutMs: number;
    readonly idleTimeoutMs: number;
    answered(status: number): void;
  };
  readonly tls: TunnelTls | undefined;
  /** The path with the query. */
  readonly path: string;
  /** Takes the function that ends the WebSocket. Call the returned function at the end of the WebSocket. */
  onStream(end: (why?: StreamEnd) => void): () => void;
}

const CONNECT_MS = 5000;

export class Tunnels {
  readonly #options: TunnelsOptions;
  readonly #connectMs: number;
  readonly #proxy = new HttpProxy();
  readonly #targets: TunnelTargets;
  /** Ends the open event streams and WebSockets. */
  readonly #streams = new Set<() => void>();
  #isDraining = false;

  constructor(options: TunnelsOptions) {
    this.#options = options;
    this.#connectMs = options.connectMs ?? CONNECT_MS;
    this.#targets = createTunnelTargets(options);
  }

  /** Resolves when the exchange is over. */
  async handle(admitted: Admitted, route: TunnelRoute): Promise<void> {
    const location = route.tunnel.redirects.get(admitted.path);
    if (location !== undefined) {
      redirect(admitted, location);
      return;
    }
    const exchange = admitted as NodeAdmitted;
    const visit = await this.#enter(exchange, route.tunnel);
    try {
      if (hasEndedWaiting(exchange)) return;
      const { path, sent, shared } = this.#prepare(exchange, route, visit);
      setUpstreamRequest(exchange, path, tunnelRequestHeaders(admitted, sent));
      await proxyRequest(shared);
    } finally {
      visit.leave();
    }
  }

  /** Resolves when the WebSocket is over. The `response` of the admitted request belongs to the socket until the upgrade is granted. */
  async upgrade(admitted: Admitted, route: TunnelRoute, socket: Socket, head: Buffer): Promise<void> {
    const exchange = admitted as NodeAdmitted;
    const visit = await this.#enter(exchange, route.tunnel);
    try {
      if (hasEndedWaiting(exchange)) return;
      const { path, sent, shared } = this.#prepare(exchange, route, visit);
      setUpstreamRequest(exchange, path, upgradeHeaders(admitted, sent));
      const refuse = (error: GatewayError) => this.#options.refuse(admitted, error);
      await upgrade({ ...shared, socket, head, refuse });
    } finally {
      visit.leave();
    }
  }

  /** Upgrades an operation, so that the request that the pipeline has admitted becomes a tunnel. */
  async upgradeOperation(admitted: Admitted, asked: OperationUpgrade, socket: Socket, head: Buffer): Promise<void> {
    const { refuse } = this.#options;
    const exchange = admitted as NodeAdmitted;
    const { request } = exchange;
    const { handshake } = asked;
    const target = this.#targets.urlOf(handshake.origin);
    request.url = asked.path;
    request.headers = { ...handshake.headers, host: target.host, connection: 'Upgrade', upgrade: 'websocket' };
    await upgrade({
      admitted: exchange,
      proxy: this.#proxy,
      target,
      tls: asked.tls,
      isolate: true,
      onUnrequestedBytes: () => undefined,
      connectMs: this.#connectMs,
      answerMs: handshake.timeoutMs,
      idleMs: handshake.idleTimeoutMs,
      hasPages: false,
      onAnswer: (status) => handshake.answered(status),
      onAbandoned: () => undefined,
      onStream: asked.onStream,
      socket,
      head,
      refuse: (error) => refuse(admitted, error),
      operation: handshake,
    });
  }

  /** Ends event streams and WebSockets; requests in flight may finish. */
  drain(): void {
    this.#isDraining = true;
    for (const end of [...this.#streams]) end();
  }

  /** Returns the number of open event streams and WebSockets. */
  open(): number {
    return this.#streams.size;
  }

  close(): void {
    this.#proxy.close();
  }

  /** Applies the limits. The caller must call `leave` when the exchange is over. */
  #enter(admitted: NodeAdmitted, tunnel: Tunnel): Awaitable<TunnelVisit> {
    const { trail, path } = admitted;
    trail.stage = 'match';
    if (!tunnel.owns(path) || (tunnel.renamePath(path) === undefined && tunnel.isExcepted(path)))
      throw new GatewayError('route_not_found');
    trail.stage = 'throttle';
    return this.#options.addressLimitOf(tunnel).enter(admitted, tunnel.guessableIn(admitted));
  }

  /** Chooses a target. */
  #prepare(admitted: NodeAdmitted, { tunnel, tls }: TunnelRoute, visit: TunnelVisit) {
    const { traceparentFor, isIsolated, onUnrequestedBytes } = this.#options;
    const { trail, path } = admitted;
    const { name, upstream } = tunnel;
    const renamed = tunnel.renamePath(path);
    trail.stage = 'forward';
    // The tunnel itself watches the progress of the body.
    admitted.state.hasOwnBodyTimeout = true;
    trail.note('tunnel', name);
    const target = this.#targets.targetOf(tunnel);
    trail.target = target.origin;
    const traceparent = traceparentFor(trail);
    const isolate = tunnel.isolate || isIsolated(upstream);
    return {
      path: tunnel.toUpstream(renamed?.path ?? path),
      sent: { host: target.host, isolate, traceparent },
      shared: {
        admitted,
        proxy: this.#proxy,
        target,
        tls,
        isolate,
        onUnrequestedBytes: reportOf(upstream, onUnrequestedBytes),
        connectMs: this.#connectMs,
        answerMs: tunnel.timeoutMs,
        idleMs: tunnel.idleTimeoutMs,
        hasPages: tunnel.hasPages,
        basePath: tunnel.toUpstream(path) === path ? undefined : tunnel.basePath,
        fileName: renamed?.name,
        onAnswer: (status: number) =>
          visit.answered(tunnel.showsLogin(admitted.method, path, status) ? status : undefined),
        onAbandoned: visit.abandoned,
        onStream: (end: (why?: StreamEnd) => void) => this.#openStream(admitted, tunnel, end),
      },
    };
  }

  #openStream(admitted: Admitted, tunnel: Tunnel, endAs: (why?: StreamEnd) => void): () => void {
    const end = () => endAs();
    this.#streams.add(end);
    if (this.#isDraining) setImmediate(end);
    const leave = this.#options.followCaller(admitted, tunnel, endAs);
    return () => {
      this.#streams.delete(end);
      leave();
    };
  }
}

/** Returns the function that reports unrequested bytes. A connection refers to it for a long time, so it must not refer to an exchange. */
function reportOf(upstream: string, onUnrequestedBytes: (upstream: string) => void): () => void {
  return () => onUnrequestedBytes(upstream);
}

function redirect({ response, trail, commonHeaders }: Admitted, location: string): void {
  trail.status = 302;
  const framing = ['Location', location, 'Cache-Control', 'no-store', 'Content-Length', '0'];
  response.writeHead(302, [...commonHeaders, ...framing]);
  response.end();
}
