// Tries the receivers of alerts. Connects to the address of a webhook, and also logs in at a mail server. No message is sent.

import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { tryEmail } from '../../alerts/email.ts';
import { deliveryFailureOf, emailOf } from '../../alerts/receiver.ts';
import type { Secrets } from '../../config/secrets.ts';
import type { Configuration } from '../../configuration.ts';
import { type Finding, fail, type NamedCheck, ok } from '../finding.ts';

export function alertChecks({ config }: Configuration, secrets: Pick<Secrets, 'read'>): NamedCheck[] {
  return Object.entries(config.gateway.alerts?.receivers ?? {}).map(([name, { webhook, email }]): NamedCheck => {
    const check = `receiver ${name}`;
    const attempt = async () => {
      if (webhook !== undefined) await reach(new URL(webhook.url));
      else if (email !== undefined) await tryEmail(emailOf(email, { readSecret: secrets.read }));
      return webhook === undefined ? 'The mail server takes messages.' : 'Its address takes connections.';
    };
    return [check, () => findingOf(check, name, attempt)];
  });
}

async function findingOf(check: string, name: string, attempt: () => Promise<string>): Promise<Finding> {
  try {
    return ok(check, `${await attempt()} "gateway alerts test ${name}" sends a trial.`);
  } catch (error) {
    return fail(
      check,
      `It cannot be reached: ${deliveryFailureOf(error)}.`,
      'Correct it in alerts of gateway.yaml, or there.',
    );
  }
}

/** Connects to the server of a webhook. With TLS, also checks the certificate. */
async function reach({ protocol, hostname, port }: URL): Promise<void> {
  const host = hostname.replace(/^\[|\]$/g, '');
  const isTls = protocol === 'https:';
  const at = { host, port: Number(port || (isTls ? 443 : 80)) };
  const socket = isTls ? connectSecurely(at) : connect(at);
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect');
  } finally {
    socket.destroy();
  }
}
