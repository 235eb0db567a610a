// The connection of the Redis session store. A call rejects at once while Redis cannot be reached, and after a second if Redis does not
// answer.

import { type ConnectRedis, openRedis } from '../../../redis/client.ts';
import { evaluate, type Script } from '../../../redis/sealed-script.ts';
import { type Machine, REAL_MACHINE } from '../../../shared/machine.ts';
import { SESSIONS } from './session-script.ts';

const COMMAND_TIMEOUT_MS = 1000;

export type RunSessionScript = (script: Script, args?: readonly (string | number)[]) => Promise<unknown>;

export interface SessionConnection {
  readonly run: RunSessionScript;
  /** Returns the time since the last reconnect; Infinity if there was none. */
  reconnectedForMs(): number;
  /** Returns the number of reconnects. */
  reconnects(): number;
  close(): void;
}

/** Connects at once and reconnects by itself. Resolves when the first attempt to connect has succeeded or failed. */
export async function openSessionConnection(
  url: string,
  connect?: ConnectRedis,
  { performance }: Pick<Machine, 'performance'> = REAL_MACHINE,
): Promise<SessionConnection> {
  let wasLost = false;
  let reconnectedAt = Number.NEGATIVE_INFINITY;
  let reconnects = 0;
  const client = await openRedis(
    {
      url,
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      onReady() {
        if (!wasLost) return;
        reconnectedAt = performance.now();
        reconnects += 1;
      },
      onLost() {
        wasLost = true;
      },
    },
    connect,
  );
  return {
    async run(script, args = []) {
      try {
        return await evaluate(client, script, [SESSIONS], args);
      } catch (cause) {
        // The library's error contains the arguments, which are sealed tokens and names, so only its message is passed on.
        throw new Error(`Redis did not answer for sessions: ${(cause as Error).message}`);
      }
    },
    reconnectedForMs: () => performance.now() - reconnectedAt,
    reconnects: () => reconnects,
    close: () => client.disconnect(),
  };
}
