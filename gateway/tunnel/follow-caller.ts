// Ends a stream in a tunnel whose client shows a key or token of the gateway, when that key or token ends.

import { GatewayError } from '../catalogue/errors.ts';
import type { Caller } from '../exchange/caller.ts';
import type { Admitted } from '../exchange/exchange.ts';
import type { StreamEnd } from '../exchange/findings.ts';
import type { Tunnel } from './table.ts';

type EndStream = (why?: StreamEnd) => void;

/** Finds the caller of a request through a tunnel; undefined if the request has no key or token of the gateway. */
type CallerOf = (admitted: Admitted) => Promise<{ readonly caller: Caller; readonly isAllowed: boolean } | undefined>;

interface FollowedStream {
  readonly kind: 'websocket';
  readonly caller: Caller;
  readonly clientAddress: string;
  readonly operation: { readonly id: string; readonly upstream: string };
  admitAgain(): Promise<Caller>;
  end(why: StreamEnd): void;
}

/**
 * Creates a function that follows the caller of an open stream, and returns a function to call when the stream has ended.
 *
 * @param openStream counts a stream of a tunnel, until the returned function is called
 */
export function createFollowCaller(openStream: (stream: FollowedStream) => () => void, callerOf: CallerOf) {
  return function followCaller(admitted: Admitted, { name, upstream }: Tunnel, end: EndStream): () => void {
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
      close = openStream({
        kind: 'websocket',
        caller: found.caller,
        clientAddress: admitted.clientAddress,
        operation: { id: name, upstream },
        async admitAgain() {
          const again = await callerOf(admitted);
          // A token whose issuer or organization is gone is no longer known.
          if (again?.isAllowed !== true) throw new GatewayError('api_key_revoked');
          return again.caller;
        },
        end: endNow,
      });
    }

    // If the key store cannot be read, the stream continues, because the caller may still have access.
    follow().catch(() => undefined);
    return () => {
      isOver = true;
      close?.();
    };
  };
}
