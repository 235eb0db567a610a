// Sends messages as mail. The library speaks SMTP and writes the headers; it is loaded when the first mail is sent.

import type { SMTPTransportOptions } from 'nodemailer';
import type { AlertMessage } from './alert.ts';
import { mailSubjectOf, mailTextOf } from './message.ts';
import type { ReceiverSettings } from './settings.ts';

type EmailSettings = NonNullable<ReceiverSettings['email']>;

export interface MailReceiver extends Omit<EmailSettings, 'secret'> {
  readonly password: string | undefined;
}

/**
 * The limit of each step of the mail client. It is as short as the deadline of a message, because the limits of the library itself are
 * minutes.
 */
const SILENCE_MS = 10_000;

/** Rejects with the reason of the server or of the connection. */
export async function sendEmail(email: MailReceiver, message: AlertMessage, signal: AbortSignal): Promise<void> {
  const transport = await openTransport(email);
  await transport.sendMail({
    from: email.from,
    to: [...email.to],
    subject: mailSubjectOf(message),
    text: mailTextOf(message),
    messageId: `<${message.id}@${email.from.replace(/^.*@/, '')}>`,
    date: new Date(message.atMs),
    // RFC 3834: no automatic reply to it.
    headers: { 'Auto-Submitted': 'auto-generated' },
    signal,
  });
}

/** Connects, encrypts and logs in, and sends nothing. Rejects with the reason. */
export async function tryEmail(email: MailReceiver): Promise<void> {
  const transport = await openTransport(email);
  await transport.verify();
}

async function openTransport(email: MailReceiver) {
  const { createTransport } = await import('nodemailer');
  return createTransport(transportOptions(email));
}

function transportOptions({ server, tls, user, password }: MailReceiver): SMTPTransportOptions {
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
    connectionTimeout: SILENCE_MS,
    greetingTimeout: SILENCE_MS,
    socketTimeout: SILENCE_MS,
    dnsTimeout: SILENCE_MS,
    socketCloseTimeout: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
