// Sends messages to an HTTP address, signed as Standard Webhooks defines it (https://www.standardwebhooks.com).

import { createHmac } from 'node:crypto';
import { type AlertMessage, toWebhookBody } from './message.ts';

/** The lengths of a key that the standard allows. */
const KEY_BYTES = { min: 24, max: 64 } as const;

interface WebhookReceiver {
  readonly url: string;
  /** The value of the secrets entry. */
  readonly secret: string;
  readonly version: string;
}

/** Sends a message. Rejects with an Error for operators unless the receiver answers 2xx. Follows no redirect and reads no body. */
export async function sendWebhook(
  { url, secret, version }: WebhookReceiver,
  message: AlertMessage,
  { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const body = toWebhookBody(message);
  const timestamp = String(Math.floor(nowMs / 1000));
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': `platform-gateway/${version}`,
      'webhook-id': message.id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signaturesOf(keysIn(secret), `${message.id}.${timestamp}.${body}`),
    },
    body,
    signal,
    redirect: 'manual',
  });
  await answer.body?.cancel();
  if (answer.ok) return;
  const isRedirect = answer.status >= 300 && answer.status < 400;
  throw new Error(`it answered ${answer.status}${isRedirect ? ', and redirects are not followed' : ''}`);
}

/** Returns why a secret cannot sign, in a sentence without the secret; undefined if it can. */
export function webhookSecretProblem(secret: string): string | undefined {
  try {
    keysIn(secret);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Returns the keys of a secret, which contains one key per line. Throws an Error for operators. */
function keysIn(secret: string): Buffer[] {
  const lines = secret.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').map(keyIn);
}

function keyIn(line: string): Buffer {
  const text = line.replace(/^whsec_/, '');
  const key = Buffer.from(text, 'base64');
  const isBase64 = key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  if (isBase64 && key.length >= KEY_BYTES.min && key.length <= KEY_BYTES.max) return key;
  throw new Error(`It must be whsec_ and ${KEY_BYTES.min} to ${KEY_BYTES.max} bytes in base64.`);
}

function signaturesOf(keys: readonly Buffer[], content: string): string {
  return keys.map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`).join(' ');
}
