// Wiring of WebSockets and event streams in tunnels: those whose client shows a key or token of the gateway end with it.

import type { CallerOfTunnel } from '../auth/tunnel-caller.ts';
import { GatewayError } from '../errors.ts';
import type { Admitted, StreamEnd } from '../exchange.ts';
import type { OpenStreams } from '../streams/open-streams.ts';
import type { Tunnel } from '../tunnel/table.ts';

export type EndStream = (why?: StreamEnd) => void;

/** Follows the caller of an open stream. The returned function is called when the stream has ended. */
export type FollowTunnel = (admitted: Admitted, tunnel: Tunnel, end: EndStream) => () => void;

/** @param streams only those of tunnels, because no limit and no operation applies to them */
export function createFollowTunnel(streams: Pick<OpenStreams, 'open'>, callerOf: CallerOfTunnel): FollowTunnel {
  return function followTunnel(admitted, { name, upstream }, end) {
    let isOver = false;
    let close: (() => void) | undefined;

    function endNow(why: StreamEnd): void {
      admitted.trail.note('streamEnd', why);
      end(why);
    }

    async function follow(): Promise<void> {
      const found = await callerOf(admitted);
      if (found === undefined || isOver) return;
      if (!found.isAllowed) {
        endNow('credential');
        return;
      }
      close = streams.open({
        kind: 'websocket',
        caller: found.caller,
        clientAddress: admitted.clientAddress,
        operation: { id: name, upstream },
        async admitAgain() {
          const again = await callerOf(admitted);
          // A token whose issuer or organization is gone is not known any more.
          if (again?.isAllowed !== true) throw new GatewayError('api_key_revoked');
          return again.caller;
        },
        end: endNow,
      });
    }

    // A store that cannot be read says nothing against a caller.
    follow().catch(() => undefined);
    return () => {
      isOver = true;
      close?.();
    };
  };
}
