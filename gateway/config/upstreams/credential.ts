// The setting `credential` of an upstream: how the gateway authenticates there. A kind of credential is an entry of `kinds` here and one of
// `kinds` in upstream/credentials/credential-kinds.ts. Each kind has a `secret`, the name of its entry in the secrets, by which start,
// `check` and `doctor` find it.

import { z } from 'zod';
import { secretEntry } from '../parts.ts';

const kinds = {
  basic: z
    .strictObject({
      user: z
        .string()
        .regex(/^[^:\s]{1,128}$/, 'must be a user name without colon and spaces')
        .describe('The user name.'),
      secret: secretEntry.describe('The entry of the secrets store: `user:password`, or the password alone.'),
    })
    .describe('HTTP Basic: user name and password.'),
};

type Kinds = typeof kinds;

/** One kind and its settings. */
type CredentialEntry = { [K in keyof Kinds]: { readonly kind: K } & Readonly<z.output<Kinds[K]>> }[keyof Kinds];

const values = Object.entries(kinds).map(
  ([kind, { shape }]) => `\`{ ${kind}: { ${Object.keys(shape).join(', ')} } }\``,
);

export const credential = z
  .strictObject(kinds)
  .partial()
  .refine((value) => Object.keys(value).length === 1, 'must name one kind, such as basic: { user, secret }')
  .meta({ minProperties: 1, maxProperties: 1 })
  .transform((value) => {
    const [[kind, settings] = []] = Object.entries(value);
    return { kind, ...settings } as CredentialEntry;
  })
  .optional()
  .meta({
    description:
      'How the gateway authenticates at the upstream. The secret of `basic` holds `user:password`, or the password alone if it has no colon. If the upstream rejects it, requests are suspended until the secret changes. Default: an assertion.',
    values: values.join(', '),
  });
