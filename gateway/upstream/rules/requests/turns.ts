// Turns within this process. A bounded number of requests with one name proceeds at once, in the order of their calls.

export interface ProcessTurn {
  /** Resolves when the request has its turn. Rejects with the reason of the signal. */
  enter(over?: AbortSignal): Promise<void>;
  /** Gives the turn to the next request. Has no effect before `enter`, or when it is called again. */
  leave(): void;
}

export interface Turns {
  turnOf(name: string): ProcessTurn;
}

interface Queue {
  /** Number of requests that have a turn. */
  entered: number;
  readonly waiting: (() => void)[];
}

/** @param atOnceMax number of requests with one name that proceed at once */
export function createTurns(atOnceMax = 1): Turns {
  const queues = new Map<string, Queue>();

  function passOn(name: string): void {
    const queue = queues.get(name) as Queue;
    const next = queue.waiting.shift();
    if (next !== undefined) next();
    else {
      queue.entered -= 1;
      if (queue.entered === 0) queues.delete(name);
    }
  }

  return {
    turnOf(name) {
      let state: 'before' | 'waiting' | 'entered' | 'over' = 'before';
      let giveUp: (() => void) | undefined;

      return {
        async enter(over) {
          over?.throwIfAborted();
          const queue = queues.get(name) ?? { entered: 0, waiting: [] };
          if (queue.entered < atOnceMax) {
            queue.entered += 1;
            queues.set(name, queue);
            state = 'entered';
            return;
          }
          state = 'waiting';
          const { promise, resolve, reject } = Promise.withResolvers<void>();
          const enterNow = () => {
            over?.removeEventListener('abort', stop);
            state = 'entered';
            resolve();
          };
          function stop(): void {
            if (state !== 'waiting') return;
            state = 'over';
            queue.waiting.splice(queue.waiting.indexOf(enterNow), 1);
            reject(over?.reason ?? new Error('the request left before its turn'));
          }
          giveUp = stop;
          over?.addEventListener('abort', stop, { once: true });
          queue.waiting.push(enterNow);
          await promise;
        },
        leave() {
          giveUp?.();
          if (state === 'entered') passOn(name);
          state = 'over';
        },
      };
    },
  };
}
