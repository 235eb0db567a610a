// Leases: requests that gateways keep open while they need this process. They end with the gateway, in every case, because its sockets do.
import type { ServerResponse } from 'node:http';

export interface Leases {
  /** Answers with a head and never with an end. */
  hold(response: ServerResponse): void;
  /** Ends all of them. */
  close(): void;
}

export function createLeases(onCount: (held: number) => void): Leases {
  const held = new Set<ServerResponse>();
  return {
    hold(response) {
      held.add(response);
      onCount(held.size);
      response.once('close', () => {
        held.delete(response);
        onCount(held.size);
      });
      // A port that an old announcement names may belong to the sandbox of another directory by now.
      response.writeHead(200, { 'cache-control': 'no-store', 'x-sandbox-pid': String(process.pid) });
      response.flushHeaders();
    },
    close() {
      for (const response of held) response.destroy();
    },
  };
}

/** Calls `expire` once the last lease has been gone for a while, or if none has ever come. */
export function createLifetime(graceMs: number, firstGraceMs: number, expire: () => void): (held: number) => void {
  let timer = setTimeout(expire, firstGraceMs);
  return function count(held) {
    clearTimeout(timer);
    if (held === 0) timer = setTimeout(expire, graceMs);
  };
}
