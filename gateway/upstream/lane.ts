// How many requests an upstream is sent at once: the rest wait in line, each within its own deadline. Throws upstream_overloaded.

import type { GatewayError } from '../errors.ts';
import { upstreamFailure } from './failure.ts';

export interface LaneOptions {
  /** Requests at once; asked anew at each decision. */
  places(): number;
  /** Most requests that wait. */
  readonly waitingMax: number;
}

export interface Lane {
  /**
   * Resolves with a function that gives the place back. Rejects with upstream_overloaded when the deadline passes first or too many
   * wait; with the signal's reason when the client leaves. Whoever came first is let in first.
   */
  enter(withinMs: number, gone: AbortSignal): Promise<() => void>;
  inFlight(): number;
  waiting(): number;
}

type Admit = (leave: () => void) => void;

export function createLane({ places, waitingMax }: LaneOptions): Lane {
  let inFlight = 0;
  /** In the order of their coming; whoever gives up is taken out where it stands. */
  const line = new Set<Admit>();

  function take(): () => void {
    let isBack = false;
    inFlight += 1;
    return function leave() {
      if (isBack) return;
      isBack = true;
      inFlight -= 1;
      admitWaiting();
    };
  }

  function admitWaiting(): void {
    for (const admit of line) {
      if (inFlight >= places()) return;
      line.delete(admit);
      admit(take());
    }
  }

  function wait(withinMs: number, gone: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(deadline);
        gone.removeEventListener('abort', onGone);
        line.delete(admit);
      };
      const admit: Admit = (leave) => {
        settle();
        resolve(leave);
      };
      const onGone = () => {
        settle();
        reject(gone.reason);
      };
      const deadline = setTimeout(() => {
        settle();
        reject(overloaded());
      }, withinMs);
      gone.addEventListener('abort', onGone);
      line.add(admit);
    });
  }

  return {
    enter(withinMs, gone) {
      if (gone.aborted) return Promise.reject(gone.reason);
      // There may be more places than when somebody last came or went: they belong to those who wait, and what is left is free.
      admitWaiting();
      if (inFlight < places()) return Promise.resolve(take());
      if (line.size >= waitingMax || withinMs <= 0) return Promise.reject(overloaded());
      return wait(withinMs, gone);
    },
    inFlight: () => inFlight,
    waiting: () => line.size,
  };
}

function overloaded(): GatewayError {
  return upstreamFailure('upstream_overloaded', 'connection_limit_reached');
}
