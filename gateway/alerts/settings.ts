// The settings of alerts: the block `alerts` of config/gateway.yaml.

import { z } from 'zod';
import { name, secretEntry, whole } from '../config/parts.ts';

/** The first words of the ids of causes. A pattern begins with one of them, or with `*`. */
export const CAUSE_KINDS = [
  ...[
    'certificate',
    'clock',
    'configuration',
    'contract',
    'errors',
    'instance',
    'issuer',
    'keys',
    'loop',
    'more',
    'near',
    'operation',
  ],
  ...['operations', 'organization', 'receiver', 'redis', 'shedding', 'silent', 'slow', 'store', 'stores'],
  ...['tier', 'unknown', 'upstream', 'worker'],
] as const;

/** Whether an id of a cause can match the pattern. A pattern with a misspelled kind would never match. */
export function isCausePattern(pattern: string): boolean {
  const [kind = ''] = pattern.split(' ');
  return kind.includes('*') || CAUSE_KINDS.some((one) => one === kind);
}

const causePattern = z
  .string()
  .min(1)
  .max(300)
  .refine(isCausePattern, `must be *, or begin with the kind of a cause: ${CAUSE_KINDS.join(', ')}`)
  .meta({ values: 'the id of a cause, in which `*` stands for any text: `redis`, `upstream orders *`' });

const webhookUrl = z
  .string()
  .refine(
    (text) => /^https?:\/\/[^\s@#]+$/.test(text) && URL.canParse(text),
    'must be an http:// or https:// address without a user name',
  )
  .meta({ description: 'The address that gets the messages, by POST.', values: '`http://` or `https://` address' });

export const webhookSettings = z.strictObject({
  url: webhookUrl,
  secret: secretEntry.describe(
    'The entry of the secrets store with the key that signs: `whsec_` and 24 to 64 bytes in base64. With two lines, both sign, so that the key can be replaced.',
  ),
});

/** This form is stricter than the mail standard, so that no text is read as several addresses. */
const mailAddress = z
  .string()
  .max(254)
  .regex(/^[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9.-]+$/, 'must be a mail address, such as ops@example.com')
  .meta({ values: 'mail address' });

const isOnThisMachine = (server: string) => /^(localhost|127\.|\[::1\])/.test(server);

export const emailSettings = z
  .strictObject({
    to: z
      .array(mailAddress)
      .min(1, 'must name at least one address')
      .max(20)
      .meta({ description: 'The recipients.', values: 'mail addresses' }),
    from: mailAddress.describe('The sender.'),
    server: z
      .string()
      .regex(/^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/, 'must be host:port, such as smtp.example.com:587')
      .meta({ description: 'The SMTP server.', values: '`host:port`' }),
    tls: z
      .enum(['starttls', 'tls', 'none'])
      .default('starttls')
      .describe(
        'How the connection is encrypted: with STARTTLS (port 587), from its first byte (port 465), or not at all. `none` sends no password, except on the same machine.',
      ),
    user: z
      .string()
      .min(1)
      .max(254)
      .optional()
      .meta({ description: 'The user name at the server.', values: 'text', fallback: 'no login' }),
    secret: secretEntry.optional().describe('The entry of the secrets store with the password of `user`.'),
  })
  .refine(({ user, secret }) => (user === undefined) === (secret === undefined), {
    error: 'must have both user and secret, or none of them',
  })
  .refine(({ tls, user, server }) => tls !== 'none' || user === undefined || isOnThisMachine(server), {
    error: 'must encrypt the connection: with tls: none, the password would be readable on its way',
  });

export const receiverSettings = z
  .strictObject({
    webhook: webhookSettings.optional().describe('Sends to an HTTP address, signed as Standard Webhooks defines it.'),
    email: emailSettings.optional().describe('Sends mail.'),
    severities: z
      .array(z.enum(['failure', 'warning']))
      .min(1, 'must name at least one severity')
      .default(['failure', 'warning'])
      .meta({
        description: 'The severities of the causes that it gets. A `failure` affects clients now, a `warning` soon.',
        values: '`failure`, `warning`',
      }),
    causes: z
      .array(causePattern)
      .min(1, 'must name at least one pattern')
      .default(['*'])
      .meta({ description: 'The causes that it gets ([ids of causes](alerts.md#the-causes)).', values: 'patterns' }),
  })
  .refine((one) => (one.webhook === undefined) !== (one.email === undefined), {
    error: 'must have either webhook or email',
  });

const time = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day, such as 22:30')
  .meta({ values: '`hh:mm`' });

export const quietWindow = z.strictObject({
  causes: z
    .array(causePattern)
    .min(1, 'must name at least one pattern')
    .default(['*'])
    .meta({ description: 'The causes that are silent.', values: 'patterns' }),
  days: z
    .array(z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']))
    .min(1, 'must name at least one day')
    .default(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'])
    .meta({ description: 'The days on which the window begins.', values: '`mon` … `sun`' }),
  from: time.describe('Begin of the window.'),
  to: time.describe('End of the window. If it is not after `from`, the window ends on the next day.'),
  timeZone: z
    .string()
    .refine(isTimeZone, 'must be a time zone, such as Europe/Berlin')
    .default('UTC')
    .meta({ description: 'The time zone of `from`, `to` and `days`.', values: 'name of the IANA database' }),
});

export const alertSettings = z.strictObject({
  receivers: z.record(name, receiverSettings).meta({
    description: 'The receivers of messages, and the causes that each of them gets.',
    values: 'receivers by name',
  }),
  forSeconds: whole('seconds', 0, 3600)
    .default(5)
    .describe('How long a cause lasts before it is reported. The gateway checks the causes every 3 seconds.'),
  recoverySeconds: whole('seconds', 0, 86_400)
    .default(30)
    .describe(
      'How long a cause is away before its end is reported. This time doubles with each return within an hour.',
    ),
  groupSeconds: whole('seconds', 0, 3600)
    .default(15)
    .describe(
      'The shortest time between two messages to a receiver. Changes during this time are in the next message. A new failure waits only after a message about another new failure.',
    ),
  repeatMinutes: whole('minutes', 0, 10_080)
    .default(240)
    .describe('The time after which a cause that lasts is reported again. 0: never.'),
  consoleUrl: z
    .string()
    .refine(
      (text) => /^https?:\/\/[^\s@?#]+$/.test(text) && URL.canParse(text),
      'must be an http:// or https:// address',
    )
    .optional()
    .meta({
      description: 'The address at which operators open the console. Messages link to it.',
      values: '`http://` or `https://` address',
      fallback: '`ADMIN_HOST` and `ADMIN_PORT`',
    }),
  silences: z.array(quietWindow).default([]).meta({
    description: 'Times of the week at which causes are not reported, such as a time for maintenance.',
    values: 'list of windows',
  }),
});

export type AlertSettings = z.output<typeof alertSettings>;
export type ReceiverSettings = AlertSettings['receivers'][string];
export type QuietWindow = AlertSettings['silences'][number];

function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
