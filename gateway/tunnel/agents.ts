// HTTP agents for tunnels: idle connections are reused only if no unrequested bytes have arrived on them.

import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import { NOTHING, type Unread } from '../sockets/unread-bytes.ts';

export interface Agents {
  /** Keeps its connections for further requests. */
  readonly kept: http.Agent;
  /** Closes each connection after one request or one WebSocket. */
  readonly alone: http.Agent;
}

/** Below the 5 s after which many servers close idle connections, so that no request is sent on a connection that is being closed. */
const IDLE_MS = 4000;
const keeping = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 64 };
// A peer that closes its half of a WebSocket still receives data.
const single = { keepAlive: false, allowHalfOpen: true };

export function createAgents(unread: Unread): Agents {
  return { kept: onlyQuiet(new http.Agent(keeping), unread), alone: new http.Agent(single) };
}

/** @param tls connection settings, added to the common ones */
export function createSecureAgents(unread: Unread, tls: https.AgentOptions | undefined): Agents {
  const kept = onlyQuiet(new https.Agent({ ...keeping, ...tls }), unread);
  return { kept, alone: new https.Agent({ ...single, ...tls }) };
}

/** Node calls this method when a request needs a connection; its type declarations omit it. */
interface AgentInternals {
  addRequest(...args: unknown[]): void;
}

/**
 * Rejects idle connections that have received bytes: Node would take these bytes for the answer to the next request. Bytes that arrive
 * while the event loop is free are noticed by a `data` listener; later ones by reading the socket right before it is reused.
 */
function onlyQuiet<A extends http.Agent>(agent: A, unread: Unread): A {
  const { keepSocketAlive, reuseSocket } = agent;
  const { addRequest } = agent as unknown as AgentInternals;
  const destroyed = new WeakMap<Duplex, () => void>();
  return Object.assign(agent, {
    keepSocketAlive(socket: Duplex): boolean {
      const isKept = (keepSocketAlive as unknown as (socket: Duplex) => boolean | undefined).call(agent, socket);
      if (isKept === false) return false;
      const destroy = () => void socket.destroy();
      destroyed.set(socket, destroy);
      socket.on('data', destroy);
      return true;
    },
    reuseSocket(socket: Duplex, request: http.ClientRequest): void {
      socket.off('data', destroyed.get(socket) ?? (() => undefined));
      (reuseSocket as unknown as (socket: Duplex, request: http.ClientRequest) => void).call(agent, socket, request);
    },
    addRequest(...args: unknown[]): void {
      // Node reuses the last free socket first.
      for (const free of Object.values(agent.freeSockets))
        for (let last = free?.at(-1); last !== undefined; last = free?.at(-1)) {
          if (!last.destroyed && unread.take(last) === NOTHING) break;
          free?.pop();
          last.destroy();
        }
      addRequest.apply(agent, args);
    },
  });
}
