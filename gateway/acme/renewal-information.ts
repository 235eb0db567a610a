// Reads renewal information from the ACME server (RFC 9773), which suggests a time for the renewal, and stores it.

import { AcmeFailure } from './failure.ts';
import { change, recordIn } from './records.ts';
import { askAgainAfterMs, selectMoment } from './renewal.ts';
import type { Work } from './work.ts';

interface RenewalInformation {
  readonly suggestedWindow?: { readonly start: string; readonly end: string };
}

/**
 * If the renewal information is missing or broken, it is read again later. Until then, the lifetime decides about the renewal.
 *
 * @param certificateId undefined if the certificate in use has no identifier
 */
export async function readRenewalInformation(
  { journal, client, now }: Work,
  id: string,
  certificateId: string | undefined,
  random: () => number,
): Promise<void> {
  if (certificateId === undefined) return;
  const former = recordIn(journal.records(), 'renewal', id);
  const known = former?.certificateId === certificateId ? former.window : undefined;
  const { renewalInfo } = await client.directory();
  const answer = renewalInfo === undefined ? undefined : await readAt(client, `${renewalInfo}/${certificateId}`);
  const suggested = answer?.value?.suggestedWindow;
  const window = suggested === undefined ? known : (selectMoment(suggested, known, random) ?? known);
  const askAtMs = now() + askAgainAfterMs(answer?.retryAfterMs);
  await journal.write(change('renewal', id, { certificateId, window, askAtMs }));
}

async function readAt(client: Work['client'], url: string) {
  try {
    return await client.get<RenewalInformation | undefined>(url);
  } catch (error) {
    if (error instanceof AcmeFailure) return undefined;
    throw error;
  }
}
