// HTTP agents for tunnels. Idle connections are reused only if no unrequested bytes have arrived on them.

import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { NOTHING, type Unread } from '../sockets/unread-bytes.ts';

export interface Agents {
  /** Keeps its connections for other requests. */
  readonly kept: http.Agent;
  /** Closes each connection after one request or one WebSocket. */
  readonly alone: http.Agent;
}

/**
 * Idle connections are closed after this time. Many servers close them after 5 s, and a request on a connection that is being closed would
 * be lost.
 */
const IDLE_MS = 4000;
const POOLED_AGENT = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 64 };
// A peer that closes its half of a WebSocket still receives data.
const UNPOOLED_AGENT = { keepAlive: false, allowHalfOpen: true };

/** Called with an idle connection that has delivered bytes, before it is closed. */
type OnUnrequestedBytes = (socket: Duplex) => void;

export function createAgents(unread: Unread, onUnrequestedBytes: OnUnrequestedBytes): Agents {
  return {
    kept: onlyQuiet(new http.Agent(POOLED_AGENT), unread, onUnrequestedBytes),
    alone: new http.Agent(UNPOOLED_AGENT),
  };
}

/** @param tls connection settings, added to the common ones */
export function createSecureAgents(
  unread: Unread,
  onUnrequestedBytes: OnUnrequestedBytes,
  tls: https.AgentOptions | undefined,
): Agents {
  const kept = onlyQuiet(new https.Agent({ ...POOLED_AGENT, ...tls }), unread, onUnrequestedBytes);
  return { kept, alone: new https.Agent({ ...UNPOOLED_AGENT, ...tls }) };
}

/** Node calls this method when a request needs a connection; its type declarations omit it. */
interface AgentInternals {
  addRequest(...args: unknown[]): void;
}

/**
 * Rejects idle connections that have received bytes, because Node would take these bytes for the answer to the next request. A `data`
 * listener notices bytes that arrive while the event loop is free. Later bytes are noticed by reading the socket right before it is reused.
 */
function onlyQuiet<A extends http.Agent>(agent: A, unread: Unread, onUnrequestedBytes: OnUnrequestedBytes): A {
  const { keepSocketAlive, reuseSocket } = agent;
  const { addRequest } = agent as unknown as AgentInternals;
  const watched = new WeakMap<Duplex, () => void>();
  return Object.assign(agent, {
    keepSocketAlive(socket: Duplex): boolean {
      const isKept = (keepSocketAlive as unknown as (socket: Duplex) => boolean | undefined).call(agent, socket);
      if (isKept === false) return false;
      const { bytesRead } = socket as Socket;
      const destroy = () => void socket.destroy();
      const report = () => {
        if ((socket as Socket).bytesRead > bytesRead) onUnrequestedBytes(socket);
      };
      watched.set(socket, () => socket.off('data', destroy).off('close', report));
      // Newer versions of Node themselves destroy the connection, without an event for the bytes.
      socket.on('data', destroy).on('close', report);
      return true;
    },
    reuseSocket(socket: Duplex, request: http.ClientRequest): void {
      watched.get(socket)?.();
      (reuseSocket as unknown as (socket: Duplex, request: http.ClientRequest) => void).call(agent, socket, request);
    },
    addRequest(...args: unknown[]): void {
      // Node reuses the last free socket first.
      for (const free of Object.values(agent.freeSockets))
        for (let last = free?.at(-1); last !== undefined; last = free?.at(-1)) {
          const length = last.destroyed ? 0 : unread.take(last);
          if (length === NOTHING) break;
          free?.pop();
          // Over TLS, the bytes may be a session ticket, so they are not reported.
          if (length > 0 && !(last instanceof TLSSocket)) onUnrequestedBytes(last);
          last.destroy();
        }
      addRequest.apply(agent, args);
    },
  });
}
