// Waits after a change until every running gateway has put it in force.

import type { Instance, KeyStore } from '../auth/store/key-store.ts';
import { REAL_MACHINE } from '../shared/machine.ts';

const POLL_MS = 50;
/**
 * The time without a report after which a gateway is treated as silent. Gateways report every two seconds. A silent gateway may never
 * confirm the change.
 */
export const SILENT_MS = 5000;

/**
 * The longest time for the reply to a change. Reports from this time before the reply are accepted. Older reports are not, although they
 * name the latest change. If the command has changed nothing, and the store has lost a change that a gateway has read since, that gateway
 * is ahead of both.
 */
const REPLY_MS = 250;

export type ReportedInstance = Instance & { readonly silentMs: number };

export interface Confirmations {
  readonly waitedMs: number;
  readonly confirmed: readonly ReportedInstance[];
  readonly unconfirmed: readonly ReportedInstance[];
}

/**
 * Resolves when every running gateway has reported that all current entries of the audit log are in force. Also resolves when the time is
 * over, or when only gateways are missing that were silent from the start.
 */
export async function awaitConfirmations(
  { audit, instances }: Pick<KeyStore, 'audit' | 'instances'>,
  timeoutMs: number,
  { performance, sleep } = REAL_MACHINE,
): Promise<Confirmations> {
  const startedAt = performance.now();
  const heard = new Set<string>();
  const { latest } = await audit.since(Number.MAX_SAFE_INTEGER, 1);

  async function list(): Promise<readonly ReportedInstance[]> {
    const sinceMs = performance.now() - startedAt + REPLY_MS;
    const reported = await instances.list();
    for (const { id, silentMs } of reported) if (silentMs <= sinceMs) heard.add(id);
    return reported;
  }

  let reported = await list();
  const silent = new Set(reported.filter(({ silentMs }) => silentMs > SILENT_MS).map(({ id }) => id));
  for (;;) {
    const unconfirmed = reported.filter(({ id, position }) => position < latest || !heard.has(id));
    const waitedMs = performance.now() - startedAt;
    if (waitedMs >= timeoutMs || unconfirmed.every(({ id }) => silent.has(id))) {
      return { waitedMs, confirmed: reported.filter((one) => !unconfirmed.includes(one)), unconfirmed };
    }
    await sleep(POLL_MS);
    reported = await list();
  }
}

/** Reads from the last reports which gateways have put the latest change in force. */
export async function confirmationsNow({
  audit,
  instances,
}: Pick<KeyStore, 'audit' | 'instances'>): Promise<Omit<Confirmations, 'waitedMs'>> {
  const { latest } = await audit.since(Number.MAX_SAFE_INTEGER, 1);
  const reported = await instances.list();
  const isInForce = ({ position }: Instance) => position >= latest;
  return { confirmed: reported.filter(isInForce), unconfirmed: reported.filter((one) => !isInForce(one)) };
}
