// The shape of `cors` in gateway.yaml, which lists other origins whose pages may read answers in browsers.

import { z } from 'zod';
import { isHttpUrl, whole } from '../parts.ts';

const origin = z
  .string()
  .refine((text) => text === '*' || (isHttpUrl(text) && !text.includes('*') && new URL(text).origin === text), {
    error: "must be an origin such as https://app.example.com, or '*'",
  })
  .meta({ pattern: '^([*]|https?://[^/?#\\s@*]+)$' });
const hostName = z
  .string()
  .regex(/^(\*|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)$/, 'must be a host name in lower case without port, or *');

const crossOrigin = z
  .strictObject({
    origins: z.array(origin).min(1, 'must list at least one origin').meta({
      description: 'The origins whose pages may read answers.',
      values: "origins such as `https://app.example.com`, or `'*'`",
    }),
    credentials: z
      .boolean()
      .default(false)
      .describe("Whether browsers may send cookies and other credentials. Cannot be `true` with the origin `'*'`."),
    maxAgeSeconds: whole('seconds', 0, 86_400)
      .default(600)
      .describe('The time for which a browser may cache the answer to a preflight. 0: not at all.'),
  })
  .check(({ value: { origins, credentials }, issues }) => {
    if (!(credentials && origins.includes('*'))) return;
    const message = 'must be false where every origin is let in: list the origins instead of *';
    issues.push({ code: 'custom', path: ['credentials'], input: credentials, message });
  });

/** The rules by host name. `*` applies to every host that is not listed. */
export const cors = z.record(hostName, crossOrigin);
