// After a change: waits until every running gateway has put it in force.

import type { Instance, KeyStore } from '../auth/store/key-store.ts';
import { realMachine } from '../shared/machine.ts';

const POLL_MS = 50;
/**
 * How long a gateway may have been silent before the change. Gateways report every two seconds, so one that was silent for longer may never
 * confirm the change.
 */
export const SILENT_MS = 5000;

export type ReportedInstance = Instance & { readonly silentMs: number };

export interface Confirmations {
  readonly waitedMs: number;
  readonly confirmed: readonly ReportedInstance[];
  readonly unconfirmed: readonly ReportedInstance[];
}

/**
 * Resolves when every running gateway has put in force all entries that are in the audit log now, when the time is over, or when only
 * gateways are missing that were silent from the start.
 */
export async function awaitConfirmations(
  { audit, instances }: Pick<KeyStore, 'audit' | 'instances'>,
  timeoutMs: number,
  { performance, sleep } = realMachine,
): Promise<Confirmations> {
  const startedAt = performance.now();
  const { latest } = await audit.since(Number.MAX_SAFE_INTEGER, 1);
  let reported = await instances.list();
  const silent = new Set(reported.filter(({ silentMs }) => silentMs > SILENT_MS).map(({ id }) => id));
  for (;;) {
    const unconfirmed = reported.filter(({ position }) => position < latest);
    const waitedMs = performance.now() - startedAt;
    if (waitedMs >= timeoutMs || unconfirmed.every(({ id }) => silent.has(id))) {
      return { waitedMs, confirmed: reported.filter(({ position }) => position >= latest), unconfirmed };
    }
    await sleep(POLL_MS);
    reported = await instances.list();
  }
}
