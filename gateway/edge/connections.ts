// How many connections there may be, all together and from one client address; of IPv6, from one /64. One too many is closed before a
// byte of it is read, so that a client that opens thousands causes next to no work.

import type { Socket } from 'node:net';
import { withoutMapping } from './client-address.ts';

export interface ConnectionRules {
  readonly max: number;
  readonly perAddress: number;
}

export type Excess = 'all' | 'address';

export interface ConnectionsOptions {
  /** Asked for each connection, since it may change. */
  rules(): ConnectionRules;
  /** The addresses that are counted as one: an IPv4 address, the /64 of an IPv6 address. */
  blockOf(address: string): string;
  /** Whether so many clients come through this address that it may have as many as there are. */
  isExempt(address: string): boolean;
  onExcess(of: Excess): void;
}

/** Takes each new connection; of one too many it is told, and the connection is gone. */
export function createConnections(options: ConnectionsOptions): (socket: Socket) => void {
  const byBlock = new Map<string, number>();
  let open = 0;

  function excessOf(address: string, ofBlock: number): Excess | undefined {
    const { max, perAddress } = options.rules();
    if (open >= max) return 'all';
    return ofBlock >= perAddress && !options.isExempt(withoutMapping(address)) ? 'address' : undefined;
  }

  return function take(socket) {
    // Absent when the client has left already.
    const address = socket.remoteAddress ?? '';
    const block = options.blockOf(address);
    const ofBlock = byBlock.get(block) ?? 0;
    const excess = excessOf(address, ofBlock);
    if (excess !== undefined) {
      socket.destroy();
      options.onExcess(excess);
      return;
    }
    open += 1;
    byBlock.set(block, ofBlock + 1);
    socket.once('close', () => {
      open -= 1;
      const left = (byBlock.get(block) as number) - 1;
      if (left === 0) byBlock.delete(block);
      else byBlock.set(block, left);
    });
  };
}
