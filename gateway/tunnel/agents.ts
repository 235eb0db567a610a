// The connections of tunnels to one kind of upstream: kept for the next request only while nothing comes over them unasked.

import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import { NOTHING, type Unread } from '../unread.ts';

export interface Agents {
  /** Its connections are used again. */
  readonly kept: http.Agent;
  /** Each of its connections is for one request, or for one WebSocket. */
  readonly alone: http.Agent;
}

/** Less than the 5 s after which many servers close idle connections, so that none is used just then. */
const IDLE_MS = 4000;
const keeping = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 64 };
// What closes its half of a WebSocket may still be written to.
const single = { keepAlive: false, allowHalfOpen: true };

export function createAgents(unread: Unread): Agents {
  return { kept: onlyQuiet(new http.Agent(keeping), unread), alone: new http.Agent(single) };
}

/** @param tls settings of the connections, beside those of every one */
export function createSecureAgents(unread: Unread, tls: https.AgentOptions | undefined): Agents {
  const kept = onlyQuiet(new https.Agent({ ...keeping, ...tls }), unread);
  return { kept, alone: new https.Agent({ ...single, ...tls }) };
}

/** What Node calls when a request needs a connection; its types leave it out. */
interface Asked {
  addRequest(...given: unknown[]): void;
}

/**
 * Node takes what comes over an idle connection for the answer to the next request. What comes while the event loop is free is noticed when
 * it comes; what came since then, right before the connection is used again.
 */
function onlyQuiet<A extends http.Agent>(agent: A, unread: Unread): A {
  const { keepSocketAlive, reuseSocket } = agent;
  const { addRequest } = agent as unknown as Asked;
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
    addRequest(...given: unknown[]): void {
      // The last one is the next to be used.
      for (const free of Object.values(agent.freeSockets))
        for (let last = free?.at(-1); last !== undefined; last = free?.at(-1)) {
          if (!last.destroyed && unread.take(last) === NOTHING) break;
          free?.pop();
          last.destroy();
        }
      addRequest.apply(agent, given);
    },
  });
}
