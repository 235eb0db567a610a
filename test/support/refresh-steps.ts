// A way to Redis that sees the steps of a refresh as they pass, and lets a trial disturb the gateway at each of them.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { REFRESH_SCRIPTS } from '../../gateway/sessions/store/redis/refreshes.ts';

/**
 * The steps of a refresh, in their order: the gateway asks for the lease, has it, notes in the store that it sends the token, may send it,
 * wants to store the new tokens, has stored them.
 */
export type RefreshStep = 'asks' | 'has the lease' | 'announces' | 'has announced' | 'stores' | 'has stored';

export interface SteppedRelay {
  readonly url: string;
  close(): void;
}

/**
 * @param onStep called before the bytes of a step pass; false: neither they nor any that follow do, because the gateway is about to end. What
 *   it has announced or stored has reached the server, but the gateway does not learn of it.
 */
export async function startSteppedRelay(
  serverUrl: string,
  onStep: (step: RefreshStep) => boolean,
): Promise<SteppedRelay> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();

  function relay(client: Socket): void {
    const server = connect(Number(port), hostname);
    let isHolder = false;
    let isHeld = false;
    const hold = (step: RefreshStep) => {
      isHeld ||= !onStep(step);
      return isHeld;
    };
    client.on('data', (bytes) => {
      if (isHeld) return;
      const next = stepOf(bytes, isHolder);
      if (next !== undefined && hold(next.before)) return;
      server.write(bytes);
      if (next?.after !== undefined) hold(next.after);
      if (next?.before === 'stores') isHolder = false;
    });
    server.on('data', (bytes) => {
      if (isHeld) return;
      if (bytes.includes('$5\r\ntaken\r\n')) {
        isHolder = true;
        if (hold('has the lease')) return;
      }
      client.write(bytes);
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  }

  const door = createServer(relay).listen(0, '127.0.0.1');
  await once(door, 'listening');
  return {
    url: `redis://127.0.0.1:${(door.address() as AddressInfo).port}`,
    close() {
      door.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

interface Passing {
  readonly before: RefreshStep;
  readonly after?: RefreshStep;
}

/** The first renewal of a holder is the announcement: the others follow after a second. New tokens are written again after two. */
function stepOf(bytes: Buffer, isHolder: boolean): Passing | undefined {
  if (bytes.includes(REFRESH_SCRIPTS.take.sha)) return { before: 'asks' };
  if (!isHolder) return undefined;
  if (bytes.includes(REFRESH_SCRIPTS.renew.sha)) return { before: 'announces', after: 'has announced' };
  return bytes.includes(REFRESH_SCRIPTS.replace.sha) ? { before: 'stores', after: 'has stored' } : undefined;
}
