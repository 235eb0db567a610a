// Sends messages as mail. A library speaks SMTP and writes the headers. It is loaded for the first mail.

import type { SMTPTransportOptions } from 'nodemailer';
import { type AlertMessage, mailSubjectOf, mailTextOf } from './message.ts';
import type { ReceiverSettings } from './settings.ts';

type EmailSettings = NonNullable<ReceiverSettings['email']>;

export interface EmailReceiver extends Omit<EmailSettings, 'secret'> {
  readonly password: string | undefined;
}

/**
 * The timeout of each step of the mail client, equal to the deadline of a message. The library's own timeouts are minutes.
 */
const STEP_TIMEOUT_MS = 10_000;

/** Sends a message. Rejects with the error of the server or of the connection. */
export async function sendEmail(email: EmailReceiver, message: AlertMessage, signal: AbortSignal): Promise<void> {
  const transport = await openTransport(email);
  await transport.sendMail({
    from: email.from,
    to: [...email.to],
    subject: mailSubjectOf(message),
    text: mailTextOf(message),
    messageId: `<${message.id}@${email.from.replace(/^.*@/, '')}>`,
    date: new Date(message.atMs),
    // This field keeps mail programs from sending an automatic reply (RFC 3834).
    headers: { 'Auto-Submitted': 'auto-generated' },
    signal,
  });
}

/** Connects, encrypts and logs in, but sends nothing. Rejects with the error. */
export async function tryEmail(email: EmailReceiver): Promise<void> {
  const transport = await openTransport(email);
  await transport.verify();
}

async function openTransport(email: EmailReceiver) {
  const { createTransport } = await import('nodemailer');
  return createTransport(transportOptions(email));
}

function transportOptions({ server, tls, user, password }: EmailReceiver): SMTPTransportOptions {
  const [, host = '', port = ''] = /^(.+):(\d+)$/.exec(server) ?? [];
  return {
    host: host.replace(/^\[|\]$/g, ''),
    port: Number(port),
    secure: tls === 'tls',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(user !== undefined && password !== undefined && { auth: { user, pass: password } }),
    // Without `forceAuth`, the library would send without a login if the server offers none.
    forceAuth: user !== undefined,
    connectionTimeout: STEP_TIMEOUT_MS,
    greetingTimeout: STEP_TIMEOUT_MS,
    socketTimeout: STEP_TIMEOUT_MS,
    dnsTimeout: STEP_TIMEOUT_MS,
    socketCloseTimeout: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
