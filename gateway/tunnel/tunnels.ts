// Forwards paths without a contract or API key: client and upstream exchange their own credentials. Throws route_not_found, the codes of
// the address limit, upstream_* codes and request_timeout.

import type { Socket } from 'node:net';
import { GatewayError } from '../errors.ts';
import type { Admitted, Arrived } from '../exchange.ts';
import type { StreamEnd } from '../findings.ts';
import type { TrailNotes } from '../notes.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import { createHttpProxy, type TunnelTls } from './http-proxy.ts';
import type { NodeAdmitted } from './proxied-exchange.ts';
import { proxyRequest } from './proxy-request.ts';
import type { Tunnel } from './table.ts';
import { tunnelRequestHeaders, upgradeHeaders } from './tunnel-headers.ts';
import { type UpgradeOptions, upgrade } from './upgrade.ts';

/** Limits requests and failures per client address. */
interface TunnelAddressLimit {
  /** @param credential of the request, if it can be guessed */
  enter(admitted: Admitted, credential: string | undefined): Awaitable<TunnelVisit>;
}

/** A request inside the limit. */
interface TunnelVisit {
  /** Call it with the head of the answer. `status` is undefined if the answer shows nothing about a login. */
  answered(status: number | undefined): void;
  /** The client has left before the answer, or does not finish its request. */
  abandoned(): void;
  /** Call it once, when the request has ended. */
  leave(): void;
}

interface TunnelsOptions {
  /** Current origin of a configured address. */
  originOf(address: string): string;
  /** True if a target is unhealthy or ejected. */
  isOut(upstream: string, address: string): boolean;
  /** Whether each request of the upstream gets a connection of its own, because of bytes that no request asked for. */
  isIsolated(upstream: string): boolean;
  /** A connection of the upstream has delivered such bytes. */
  onUnrequestedBytes(upstream: string): void;
  addressLimitOf(tunnel: Tunnel): TunnelAddressLimit;
  /** The `traceparent` of one attempt; writes its ids into the trail. */
  traceparentFor(trail: TrailNotes): string;
  /** Turns an error of the connection or of the upstream's HTTP into a refusal. */
  toFailure(error: unknown): GatewayError;
  /** Writes the error answer. */
  refuse(arrived: Arrived, error: GatewayError): void;
  /** Closes a client's connection, so that a truncated answer is not taken for a complete one. */
  cutOff(socket: Socket): void;
  /** Called before forwarding: a tunnel watches the progress of the body itself, so the usual body timeout does not apply. */
  onProxied(arrived: Arrived): void;
  /** Ends a stream when the credential of its client ends, if the gateway knows it. The returned function is called at its end. */
  followCaller(admitted: Admitted, tunnel: Tunnel, end: (why?: StreamEnd) => void): () => void;
  /** Time allowed to open a connection to an upstream. */
  readonly connectMs?: number;
}

/** A tunnel under one configuration. */
interface TunnelRoute {
  readonly tunnel: Tunnel;
  readonly tls: TunnelTls | undefined;
}

/** The WebSocket of an operation, as its upstream is asked for it. */
interface OperationUpgrade extends NonNullable<UpgradeOptions['operation']> {
  readonly origin: string;
  readonly tls: TunnelTls | undefined;
  /** With query. */
  readonly path: string;
  /** Without those of the connection. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly idleTimeoutMs: number;
  answered(status: number): void;
  /** Takes the function that ends the WebSocket; the returned one is called at its end. */
  onStream(end: (why?: StreamEnd) => void): () => void;
}

export interface Tunnels {
  /** Resolves when the exchange is over. */
  handle(admitted: Admitted, route: TunnelRoute): Promise<void>;
  /** Resolves when the WebSocket is over. The `response` of the admitted request belongs to the socket until the upgrade is granted. */
  upgrade(admitted: Admitted, route: TunnelRoute, socket: Socket, head: Buffer): Promise<void>;
  /** The same for an operation: what the pipeline has admitted becomes a tunnel. */
  upgradeOperation(admitted: Admitted, asked: OperationUpgrade, socket: Socket, head: Buffer): Promise<void>;
  /** Ends event streams and WebSockets; requests in flight may finish. */
  drain(): void;
  /** Event streams and WebSockets that are open now. */
  open(): number;
  close(): void;
}

const CONNECT_MS = 5000;

export function createTunnels(options: TunnelsOptions): Tunnels {
  const { connectMs = CONNECT_MS, toFailure } = options;
  const proxy = createHttpProxy();
  const { targetOf, urlOf } = createTunnelTargets(options);
  const streams = new Set<() => void>();
  let draining = false;

  /** Connections hold it for long, so it holds nothing of an exchange. */
  function reportOf(upstream: string): () => void {
    return () => options.onUnrequestedBytes(upstream);
  }

  function openStream(admitted: Admitted, tunnel: Tunnel, endAs: (why?: StreamEnd) => void): () => void {
    const end = () => endAs();
    streams.add(end);
    if (draining) setImmediate(end);
    const leave = options.followCaller(admitted, tunnel, endAs);
    return () => {
      streams.delete(end);
      leave();
    };
  }

  /** Applies the limits. The caller must call `leave` when the exchange is over. */
  function enter(admitted: NodeAdmitted, tunnel: Tunnel): Awaitable<TunnelVisit> {
    const { trail, path } = admitted;
    trail.stage = 'match';
    if (!tunnel.owns(path) || (tunnel.renamed(path) === undefined && tunnel.isExcepted(path)))
      throw new GatewayError('route_not_found');
    trail.stage = 'throttle';
    return options.addressLimitOf(tunnel).enter(admitted, tunnel.guessableIn(admitted));
  }

  /** Chooses a target. */
  function prepare(admitted: NodeAdmitted, { tunnel, tls }: TunnelRoute, visit: TunnelVisit) {
    const { trail, path } = admitted;
    const renamed = tunnel.renamed(path);
    trail.stage = 'forward';
    options.onProxied(admitted);
    trail.note('tunnel', tunnel.name);
    const target = targetOf(tunnel);
    trail.target = target.origin;
    const traceparent = options.traceparentFor(trail);
    const isolate = tunnel.isolate || options.isIsolated(tunnel.upstream);
    return {
      path: tunnel.toUpstream(renamed?.path ?? path),
      sent: { host: target.host, isolate, traceparent },
      shared: {
        admitted,
        proxy,
        target,
        tls,
        isolate,
        onUnrequestedBytes: reportOf(tunnel.upstream),
        connectMs,
        answerMs: tunnel.timeoutMs,
        idleMs: tunnel.idleTimeoutMs,
        hasPages: tunnel.hasPages,
        basePath: tunnel.toUpstream(path) === path ? undefined : tunnel.basePath,
        fileName: renamed?.name,
        toFailure,
        cutOff: () => options.cutOff(admitted.request.socket),
        onAnswer: (status: number) =>
          visit.answered(tunnel.showsLogin(admitted.method, path, status) ? status : undefined),
        onAbandoned: visit.abandoned,
        onStream: (end: (why?: StreamEnd) => void) => openStream(admitted, tunnel, end),
      },
    };
  }

  async function handle(admitted: Admitted, route: TunnelRoute): Promise<void> {
    const location = route.tunnel.redirects.get(admitted.path);
    if (location !== undefined) {
      redirect(admitted, location);
      return;
    }
    const exchange = admitted as NodeAdmitted;
    const visit = await enter(exchange, route.tunnel);
    try {
      if (isOver(exchange)) return;
      const { path, sent, shared } = prepare(exchange, route, visit);
      setUpstreamRequest(exchange, path, tunnelRequestHeaders(admitted, sent));
      await proxyRequest(shared);
    } finally {
      visit.leave();
    }
  }

  async function upgradeAdmitted(admitted: Admitted, route: TunnelRoute, socket: Socket, head: Buffer): Promise<void> {
    const exchange = admitted as NodeAdmitted;
    const visit = await enter(exchange, route.tunnel);
    try {
      if (isOver(exchange)) return;
      const { path, sent, shared } = prepare(exchange, route, visit);
      setUpstreamRequest(exchange, path, upgradeHeaders(admitted, sent));
      const refuse = (error: GatewayError) => options.refuse(admitted, error);
      await upgrade({ ...shared, socket, head, refuse });
    } finally {
      visit.leave();
    }
  }

  async function upgradeOperation(
    admitted: Admitted,
    asked: OperationUpgrade,
    socket: Socket,
    head: Buffer,
  ): Promise<void> {
    const exchange = admitted as NodeAdmitted;
    const { request } = exchange;
    const target = urlOf(asked.origin);
    request.url = asked.path;
    request.headers = { ...asked.headers, host: target.host, connection: 'Upgrade', upgrade: 'websocket' };
    await upgrade({
      admitted: exchange,
      proxy,
      target,
      tls: asked.tls,
      isolate: true,
      onUnrequestedBytes: () => undefined,
      connectMs,
      answerMs: asked.timeoutMs,
      idleMs: asked.idleTimeoutMs,
      hasPages: false,
      toFailure,
      cutOff: () => options.cutOff(socket),
      onAnswer: asked.answered,
      onAbandoned: () => undefined,
      onStream: asked.onStream,
      socket,
      head,
      refuse: (error) => options.refuse(admitted, error),
      operation: asked,
    });
  }

  return {
    handle,
    upgrade: upgradeAdmitted,
    upgradeOperation,
    drain() {
      draining = true;
      for (const end of [...streams]) end();
    },
    open: () => streams.size,
    close: proxy.close,
  };
}

function createTunnelTargets({ originOf, isOut }: Pick<TunnelsOptions, 'originOf' | 'isOut'>) {
  const urls = new Map<string, URL>();
  const turns = new Map<string, number>();

  /** The same object for the same origin. */
  function urlOf(origin: string): URL {
    const url = urls.get(origin) ?? new URL(origin);
    urls.set(origin, url);
    return url;
  }

  /** Round robin over the addresses. Unhealthy and ejected targets are skipped, unless all are. */
  function targetOf({ name, upstream, addresses }: Tunnel): URL {
    const turn = (turns.get(name) ?? 0) % addresses.length;
    const inTurn = addresses.length === 1 ? addresses : [...addresses.slice(turn), ...addresses.slice(0, turn)];
    const address = inTurn.find((one) => !isOut(upstream, one)) ?? (inTurn[0] as string);
    turns.set(name, addresses.indexOf(address) + 1);
    return urlOf(originOf(address));
  }

  return { targetOf, urlOf };
}

function redirect({ response, trail, commonHeaders }: Admitted, location: string): void {
  trail.status = 302;
  const framing = ['Location', location, 'Cache-Control', 'no-store', 'Content-Length', '0'];
  response.writeHead(302, [...commonHeaders, ...framing]);
  response.end();
}

/** True if the request has ended while it waited: the client has left, or was refused for a body that took too long. */
function isOver({ request, response, trail }: NodeAdmitted): boolean {
  if (request.socket.destroyed) trail.clientLeft();
  return request.socket.destroyed || response.writableEnded;
}

/** Replaces url and headers of the request: the upstream receives the checked path and the headers made here, nothing else. */
function setUpstreamRequest({ request, query }: NodeAdmitted, path: string, headers: Record<string, string>): void {
  request.url = query === '' ? path : `${path}?${query}`;
  request.headers = headers;
}
