// Limits the number of open connections, in all and for each client address (for IPv6, each /64). A connection above the limit is closed
// before any of its bytes are read, so that a client with thousands of connections causes hardly any work.

import type { Socket } from 'node:net';
import { addressBlockOf } from '../../shared/http/address-block.ts';
import { withoutMapping } from '../admission/client-address.ts';

interface ConnectionRules {
  readonly max: number;
  readonly perAddress: number;
}

export type Excess = 'all' | 'address';

interface ConnectionsOptions {
  /** Read for each connection, because the rules may change. */
  rules(): ConnectionRules;
  /** Whether the connections of this address are unlimited, because many clients share it. */
  isExempt(address: string): boolean;
  onExcess(excess: Excess): void;
}

/** Returns a function that takes each new connection; it closes and reports a connection above a limit. */
export function createConnections(options: ConnectionsOptions): (socket: Socket) => void {
  const byBlock = new Map<string, number>();
  let open = 0;

  function excessOf(address: string, ofBlock: number): Excess | undefined {
    const { max, perAddress } = options.rules();
    if (open >= max) return 'all';
    return ofBlock >= perAddress && !options.isExempt(withoutMapping(address)) ? 'address' : undefined;
  }

  return function take(socket) {
    // The address is absent if the client has already left.
    const address = socket.remoteAddress ?? '';
    const block = addressBlockOf(address);
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
