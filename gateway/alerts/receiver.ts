// Sends a message to a receiver, by webhook or mail, within a deadline.

import { shortTextOf, visibleLine } from '../shared/text.ts';
import type { EmailReceiver } from './email.ts';
import type { AlertMessage } from './message.ts';
import type { ReceiverSettings } from './settings.ts';
import { sendWebhook } from './webhook.ts';

const DEADLINE_MS = 10_000;
const REASON_MAX = 200;

export interface ReceiverDeps {
  /** Reads an entry of the secrets store. Throws an Error whose message is for operators. */
  readSecret(entry: string): string | undefined;
  readonly version: string;
  now(): number;
}

/** Sends a message. Rejects with an Error for operators, which names no secret. Reads the secret for each message. */
export async function sendTo(
  { webhook, email }: ReceiverSettings,
  message: AlertMessage,
  deps: ReceiverDeps,
  ended?: AbortSignal,
): Promise<void> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const signal = ended === undefined ? deadline : AbortSignal.any([deadline, ended]);
  try {
    if (webhook !== undefined) {
      const secret = secretOf(webhook.secret, deps);
      await sendWebhook({ url: webhook.url, secret, version: deps.version }, message, { nowMs: deps.now(), signal });
    } else if (email !== undefined) {
      const { sendEmail } = await import('./email.ts');
      await sendEmail(emailOf(email, deps), message, signal);
    }
  } catch (error) {
    throw new Error(deadline.aborted ? `no answer within ${DEADLINE_MS / 1000} s` : deliveryFailureOf(error), {
      cause: error,
    });
  }
}

/** Adds the password to the settings. Throws an Error for operators. */
export function emailOf(
  { secret, ...email }: NonNullable<ReceiverSettings['email']>,
  deps: Pick<ReceiverDeps, 'readSecret'>,
): EmailReceiver {
  return { ...email, password: secret === undefined ? undefined : secretOf(secret, deps) };
}

function secretOf(entry: string, { readSecret }: Pick<ReceiverDeps, 'readSecret'>): string {
  const secret = readSecret(entry);
  if (secret === undefined) throw new Error(`there is no secrets entry "${entry}"`);
  return secret;
}

/** Returns why a delivery failed, bounded and without control characters, because the text may come from a server. */
export function deliveryFailureOf(error: unknown): string {
  const { message, cause } = error as Error & { readonly cause?: NodeJS.ErrnoException };
  const reason = cause?.code ?? cause?.message ?? message;
  return visibleLine(shortTextOf(reason || 'it failed', REASON_MAX));
}
