// The setting `credential` of an upstream, which says how the gateway authenticates there. A kind of credential is an entry of `kinds` here
// and a row of `CREDENTIAL_KINDS` in upstream/credentials/credential-kinds.ts. Each kind has a `secret`, the name of its entry in the
// secrets, by which start, `check` and `doctor` find it.

import { z } from 'zod';
import { fieldName, secretEntry } from '../config/parts.ts';
import { mayCarryCredential } from '../shared/http/owned-headers.ts';

const credentialField = fieldName.refine(
  mayCarryCredential,
  'must be a header that the gateway does not need for something else, such as X-API-Key',
);

const kinds = {
  apiKey: z
    .strictObject({
      header: credentialField.describe('The header for the key, such as `X-API-Key`.'),
      secret: secretEntry.describe('The entry of the secrets store: the whole value of the header.'),
    })
    .describe('An API key in a header of its own.'),
  basic: z
    .strictObject({
      user: z
        .string()
        .regex(/^[^:\s]{1,128}$/, 'must be a user name without colon and spaces')
        .describe('The user name.'),
      secret: secretEntry.describe('The entry of the secrets store: `user:password`, or the password alone.'),
    })
    .describe('HTTP Basic: user name and password.'),
  bearer: z
    .strictObject({
      secret: secretEntry.describe('The entry of the secrets store: the token alone, without `Bearer`.'),
    })
    .describe('A token in `Authorization: Bearer`.'),
  headers: z
    .strictObject({
      names: z
        .array(credentialField)
        .min(1, 'must name at least one header')
        .describe('The headers, such as `[X-API-Key, X-App-Id]`; `Authorization` may be among them.'),
      secret: secretEntry.describe('The entry of the secrets store: a line `Name: value` for each header.'),
    })
    .describe('Several headers, for a service that requires two credentials at once.'),
};

type Kinds = typeof kinds;

/** One kind and its settings. */
export type CredentialSettings = {
  [K in keyof Kinds]: { readonly kind: K } & Readonly<z.output<Kinds[K]>>;
}[keyof Kinds];

const CREDENTIAL_FORMS = Object.entries(kinds).map(
  ([kind, { shape }]) => `${kind}: { ${Object.keys(shape).join(', ')} }`,
);

export const credential = z
  .strictObject(kinds)
  .partial()
  .refine(
    (value) => Object.keys(value).length === 1,
    `must name one kind: ${CREDENTIAL_FORMS.slice(0, -1).join(', ')} or ${CREDENTIAL_FORMS.at(-1)}`,
  )
  .meta({ minProperties: 1, maxProperties: 1 })
  .transform((value) => {
    const [[kind, settings] = []] = Object.entries(value);
    return { kind, ...settings } as CredentialSettings;
  })
  .optional()
  .meta({
    description:
      'How the gateway authenticates at the upstream ([with a key of its own](upstreams.md#a-service-that-wants-a-key)). The secret holds the whole value of the header (`apiKey`), the token (`bearer`), `user:password`, or the password alone if it has no colon (`basic`), or a line `Name: value` for each header (`headers`). If the upstream rejects it, requests are suspended until the secret or an address changes. Default: an assertion.',
    values: CREDENTIAL_FORMS.map((form) => `\`{ ${form} }\``).join(', '),
  });
