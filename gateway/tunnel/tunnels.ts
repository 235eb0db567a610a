// Paths that are passed on as they are: no contract and no key, the credentials are between client and upstream. Throws route_not_found,
// what the door throws, upstream_* codes and request_timeout.

import type { Socket } from 'node:net';
import { GatewayError } from '../errors.ts';
import type { Admitted, Arrived, Trail } from '../exchange.ts';
import { tunnelRequestHeaders, upgradeHeaders } from './headers.ts';
import { createHttpProxy, type TunnelTls } from './http-proxy.ts';
import { type NodeAdmitted, proxyRequest } from './request.ts';
import type { Tunnel } from './table.ts';
import { upgrade } from './upgrade.ts';

/** Who may come in, and how often. */
export interface TunnelAddressLimit {
  enter(admitted: Admitted): () => void;
  answered(admitted: Admitted, status: number): void;
}

export interface TunnelsOptions {
  /** Where an address of the configuration is right now. */
  originOf(address: string): string;
  /** Whether a target is known not to work. */
  isOut(upstream: string, address: string): boolean;
  doorOf(tunnel: Tunnel): TunnelAddressLimit;
  /** The `traceparent` of one sending; notes its ids in the trail. */
  traceparentFor(trail: Trail): string;
  /** What the connection or the upstream's HTTP had against it → a refusal. */
  toFailure(error: unknown): GatewayError;
  /** The one writer of error answers. */
  refuse(arrived: Arrived, error: GatewayError): void;
  /** Ends a client's connection so that nobody takes half an answer for a whole one. */
  cutOff(socket: Socket): void;
  /** Told before anything is passed on: the body may take longer than others, its progress is watched here. */
  onPassing(arrived: Arrived, tunnel: Tunnel): void;
  /** How long a connection to an upstream may take. */
  readonly connectMs?: number;
}

/** A tunnel under one configuration. */
export interface TunnelRoute {
  readonly tunnel: Tunnel;
  readonly tls: TunnelTls | undefined;
}

export interface Tunnels {
  /** Resolves when the exchange is over. */
  handle(admitted: Admitted, way: TunnelRoute): Promise<void>;
  /** The same for an upgrade to a WebSocket; `response` of what was admitted belongs to the socket until it is granted. */
  upgrade(admitted: Admitted, way: TunnelRoute, socket: Socket, head: Buffer): Promise<void>;
  /** Ends what would not end by itself. What is in flight is left to end. */
  drain(): void;
  /** Event streams and WebSockets that are open now. */
  open(): number;
  close(): void;
}

const CONNECT_MS = 5000;

export function createTunnels(options: TunnelsOptions): Tunnels {
  const { connectMs = CONNECT_MS, toFailure } = options;
  const line = createHttpProxy();
  const targets = new Map<string, URL>();
  const turns = new Map<string, number>();
  const streams = new Set<() => void>();
  let draining = false;

  /** Each in its turn, without those that are known not to work, unless none is left. */
  function targetOf({ name, upstream, addresses }: Tunnel): URL {
    const turn = (turns.get(name) ?? 0) % addresses.length;
    const inTurn = addresses.length === 1 ? addresses : [...addresses.slice(turn), ...addresses.slice(0, turn)];
    const address = inTurn.find((one) => !options.isOut(upstream, one)) ?? (inTurn[0] as string);
    turns.set(name, addresses.indexOf(address) + 1);
    const origin = options.originOf(address);
    const known = targets.get(origin) ?? new URL(origin);
    targets.set(origin, known);
    return known;
  }

  function onStream(end: () => void): () => void {
    streams.add(end);
    if (draining) setImmediate(end);
    return () => streams.delete(end);
  }

  /** Lets it in and makes it ready to be sent; what is answered tells that it is over. */
  function enter(admitted: NodeAdmitted, { tunnel, tls }: TunnelRoute) {
    const { trail, path } = admitted;
    trail.stage = 'match';
    if (!tunnel.owns(path) || tunnel.isExcepted(path)) throw new GatewayError('route_not_found');
    trail.stage = 'throttle';
    const door = options.doorOf(tunnel);
    const leave = door.enter(admitted);
    trail.stage = 'forward';
    options.onPassing(admitted, tunnel);
    const target = targetOf(tunnel);
    trail.target = target.origin;
    const traceparent = options.traceparentFor(trail);
    return {
      leave,
      sent: { host: target.host, traceparent },
      shared: {
        admitted,
        line,
        target,
        tls,
        isolate: tunnel.isolate,
        connectMs,
        answerMs: tunnel.timeoutMs,
        idleMs: tunnel.idleTimeoutMs,
        hasPages: tunnel.hasPages,
        toFailure,
        cutOff: () => options.cutOff(admitted.request.socket),
        onAnswer: (status: number) => door.answered(admitted, status),
        onStream,
      },
    };
  }

  async function handle(admitted: Admitted, way: TunnelRoute): Promise<void> {
    const elsewhere = way.tunnel.redirects.get(admitted.path);
    if (elsewhere !== undefined) {
      redirect(admitted, elsewhere);
      return;
    }
    const exchange = admitted as NodeAdmitted;
    const { leave, sent, shared } = enter(exchange, way);
    try {
      speakAs(exchange, tunnelRequestHeaders(admitted, sent));
      await proxyRequest(shared);
    } finally {
      leave();
    }
  }

  async function upgradeAdmitted(admitted: Admitted, way: TunnelRoute, socket: Socket, head: Buffer): Promise<void> {
    const exchange = admitted as NodeAdmitted;
    const { leave, sent, shared } = enter(exchange, way);
    try {
      speakAs(exchange, upgradeHeaders(admitted, sent));
      const refuse = (error: GatewayError) => options.refuse(admitted, error);
      await upgrade({ ...shared, socket, head, refuse });
    } finally {
      leave();
    }
  }

  function redirect({ response, trail, carried }: Admitted, location: string): void {
    trail.status = 302;
    const framing = ['Location', location, 'Cache-Control', 'no-store', 'Content-Length', '0'];
    response.writeHead(302, [...carried, ...framing]);
    response.end();
  }

  return {
    handle,
    upgrade: upgradeAdmitted,
    drain() {
      draining = true;
      for (const end of [...streams]) end();
    },
    open: () => streams.size,
    close: line.close,
  };
}

/** What the request says from here on: the path that was judged, and nothing that was not written here. */
function speakAs({ request, path, query }: NodeAdmitted, headers: Record<string, string>): void {
  request.url = query === '' ? path : `${path}?${query}`;
  request.headers = headers;
}
