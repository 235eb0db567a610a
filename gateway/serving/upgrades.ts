// Handles requests that ask for a WebSocket. Decides which of them can get one, and runs the pipeline for these. The request then goes to a
// tunnel, or becomes the handshake with the service of an operation.

import type { Socket } from 'node:net';
import type { RequestHandlers } from '../edge/server.ts';
import type { DownstreamRequest } from '../exchange/downstream.ts';
import type { Forwardable } from '../exchange/exchange.ts';
import type { StreamEnd } from '../exchange/findings.ts';
import type { Operation } from '../exchange/operation.ts';
import type { TlsSettings } from '../http1/client/connect.ts';
import { createPipeline, createTunnelPipeline, type Steps } from '../pipeline.ts';
import type { Tunnel } from '../tunnel/table.ts';
import type { Tunnels } from '../tunnel/tunnels.ts';
import type { Handshake } from '../upstream/handshake.ts';
import { samePath } from '../upstream/path.ts';
import type { OpenStream } from './open-stream.ts';

interface UpgradesOptions {
  readonly operations: readonly Operation[];
  readonly steps: Steps;
  readonly tunnels: Tunnels;
  tlsOf(upstream: string): TlsSettings | undefined;
  handshake(exchange: Forwardable): Promise<Handshake | undefined>;
  readonly openStream: OpenStream;
}

export function createUpgrades(options: UpgradesOptions): Pick<RequestHandlers, 'isUpgradable' | 'upgrade'> {
  const { operations, steps, tunnels, tlsOf } = options;
  const mayUpgrade = createUpgradablePaths(operations);

  function tunnelFor(request: DownstreamRequest): Tunnel | undefined {
    const sites = steps.sitesFor({ request });
    return sites && steps.tunnelAt({ request }, sites);
  }

  return {
    isUpgradable: (request) => (tunnelFor(request)?.rules.webSocket ?? mayUpgrade(request.url as string)) === true,
    upgrade(arrived, socket, head) {
      const tunnel = tunnelFor(arrived.request);
      if (tunnel === undefined) {
        const forward: typeof steps.forward = (exchange) =>
          exchange.operation.webSocket ? upgradeOperation(exchange, socket, head, options) : steps.forward(exchange);
        return createPipeline({ ...steps, forward })(arrived);
      }
      const passThrough: typeof steps.passThrough = (admitted) =>
        tunnels.upgrade(admitted, { tunnel, tls: tlsOf(tunnel.upstream) }, socket, head);
      return createTunnelPipeline({ ...steps, passThrough })(arrived, tunnel);
    },
  };
}

/** Sends the handshake of an operation. From then on, the exchange is counted as an open stream. */
async function upgradeOperation(
  exchange: Forwardable,
  socket: Socket,
  head: Buffer,
  { tunnels, tlsOf, handshake, openStream }: UpgradesOptions,
): Promise<void> {
  const { operation, trail } = exchange;
  let endJoined: ((why?: StreamEnd) => void) | undefined;
  const close = openStream(exchange, 'websocket', (why) => {
    trail.note('streamEnd', why);
    if (endJoined === undefined) socket.destroy();
    else endJoined(why);
  });
  let asked: Handshake | undefined;
  try {
    asked = await handshake(exchange);
    if (asked === undefined) return;
    await tunnels.upgradeOperation(
      exchange,
      {
        handshake: asked,
        tls: tlsOf(operation.upstream),
        path: samePath(exchange.operation, exchange.path) + exchange.search,
        onStream(end) {
          trail.note('stream', 'websocket');
          endJoined = end;
          return () => undefined;
        },
      },
      socket,
      head,
    );
  } finally {
    asked?.failed(undefined);
    close();
  }
}

/**
 * Returns the function that tells whether a request target may belong to an operation with a WebSocket. `match` decides about the
 * operation. A request that asks for an upgrade and matches an operation without a WebSocket is handled like any other request.
 */
function createUpgradablePaths(operations: readonly Operation[]): (target: string) => boolean {
  const paths = operations
    .filter(({ webSocket }) => webSocket)
    .map(({ path }) =>
      path
        .split('/')
        .map((segment) => (segment.includes('{') ? '[^/?#]+' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))),
    );
  if (paths.length === 0) return () => false;
  const path = new RegExp(
    `^(?:https?://[^/?#]*)?(?:${paths.map((segments) => segments.join('/')).join('|')})(?:[?#]|$)`,
    'i',
  );
  return (target) => path.test(target);
}
