// How many connections there may be, all together and from one address. One too many is closed before a byte of it is read: whoever
// opens them by the thousand would otherwise be worked for.

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
  /** Whether so many clients come through this address that it may have as many as there are. */
  isExempt(address: string): boolean;
  onExcess(of: Excess): void;
}

/** Takes each new connection; of one too many it is told, and the connection is gone. */
export function createConnections(options: ConnectionsOptions): (socket: Socket) => void {
  const byAddress = new Map<string, number>();
  let open = 0;

  function excessOf(address: string, ofAddress: number): Excess | undefined {
    const { max, perAddress } = options.rules();
    if (open >= max) return 'all';
    return ofAddress >= perAddress && !options.isExempt(withoutMapping(address)) ? 'address' : undefined;
  }

  return function take(socket) {
    // Absent when the client has left already.
    const address = socket.remoteAddress ?? '';
    const ofAddress = byAddress.get(address) ?? 0;
    const excess = excessOf(address, ofAddress);
    if (excess !== undefined) {
      socket.destroy();
      options.onExcess(excess);
      return;
    }
    open += 1;
    byAddress.set(address, ofAddress + 1);
    socket.once('close', () => {
      open -= 1;
      const left = (byAddress.get(address) as number) - 1;
      if (left === 0) byAddress.delete(address);
      else byAddress.set(address, left);
    });
  };
}
