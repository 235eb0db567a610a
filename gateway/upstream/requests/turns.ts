// Turns within this process: requests with the same name proceed one at a time, in the order of their calls.

export interface ProcessTurn {
  /** Resolves when all earlier requests with the name have left. Rejects with the reason of the signal. */
  enter(over: AbortSignal): Promise<void>;
  /** Gives the turn to the next request. Has no effect before `enter`, or when it is called again. */
  leave(): void;
}

export interface Turns {
  of(name: string): ProcessTurn;
}

export function createTurns(): Turns {
  /** The requests that wait while another one has the turn of this name. */
  const queues = new Map<string, (() => void)[]>();

  function passOn(name: string): void {
    const next = queues.get(name)?.shift();
    if (next === undefined) queues.delete(name);
    else next();
  }

  return {
    of(name) {
      let state: 'before' | 'waiting' | 'entered' | 'over' = 'before';
      let giveUp: (() => void) | undefined;

      return {
        async enter(over) {
          over.throwIfAborted();
          const queue = queues.get(name);
          if (queue === undefined) {
            queues.set(name, []);
            state = 'entered';
            return;
          }
          state = 'waiting';
          const { promise, resolve, reject } = Promise.withResolvers<void>();
          const enterNow = () => {
            over.removeEventListener('abort', stop);
            state = 'entered';
            resolve();
          };
          function stop(): void {
            if (state !== 'waiting') return;
            state = 'over';
            queue?.splice(queue.indexOf(enterNow), 1);
            reject(over.reason ?? new Error('the request left before its turn'));
          }
          giveUp = stop;
          over.addEventListener('abort', stop, { once: true });
          queue.push(enterNow);
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
