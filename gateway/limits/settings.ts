// The shape of config/limits.yaml, which says how many requests are admitted. Editors show the descriptions, and the tables of
// docs/config.md consist of them.

import { z } from 'zod';
import { name, whole } from '../config/parts.ts';

const rule = {
  requests: whole('requests', 1, 1_000_000_000).describe(
    'The units that are admitted in any period of `windowSeconds`. A request spends 1, or its `cost`.',
  ),
  windowSeconds: whole('seconds', 1, 86_400).default(60).describe('The length of the period.'),
  enforce: z.boolean().default(true).describe('`false`: the limit counts and reports, and refuses nothing.'),
};
/** The rule of a tier, or of an organization in place of it. */
const ofOrganizations = z.strictObject({
  ...rule,
  openStreams: whole('streams', 1, 1_000_000)
    .optional()
    .describe(
      'Under `tiers` and `organizations` only: the event streams, JSON lines and WebSockets that an organization may have open in one process. Default: 100; for an organization, the limit of its tier.',
    ),
});
const countPer = z.enum(['organization', 'key']);

export const limitsFile = z.strictObject({
  countPer: countPer
    .default('organization')
    .describe('Whether the requests of an organization are counted together or for each key.'),
  whenStoreIsAway: z
    .enum(['local', 'allow', 'refuse'])
    .default('local')
    .describe(
      'What happens while Redis is unavailable. `local`: each instance counts separately. `allow`: every request is admitted. `refuse`: every request is refused.',
    ),
  tiers: z.record(name, ofOrganizations).meta({
    description:
      'The limit of each tier of organizations. `anonymous` is the limit of each client address on public operations.',
    values: 'limits by name of the tier',
  }),
  extra: z
    .record(
      name,
      z.strictObject({
        ...rule,
        per: countPer
          .default('organization')
          .describe('Under `extra` only: whether requests are counted for the organization or for each key.'),
      }),
    )
    .default({})
    .meta({
      description:
        'Limits that operations may name, in addition to the tier. The names `organization`, `key` and `person` are reserved.',
      values: 'limits by name',
    }),
  operations: z
    .record(
      z.string(),
      z.strictObject({
        extra: name.optional().meta({ description: 'Another limit.', values: 'name under `extra`' }),
        cost: whole('units', 1, 1_000_000).optional().describe('The units that one request spends.'),
      }),
    )
    .default({})
    .meta({ description: 'Settings that override the settings in the contract.', values: 'by operation id' }),
  organizations: z
    .record(z.string(), ofOrganizations)
    .default({})
    .meta({ description: 'Limits that replace the limit of the tier.', values: 'limits by organization id' }),
  persons: z.strictObject(rule).prefault({ requests: 600 }).meta({
    description:
      'The limit of each person who has signed in with a browser, in addition to the limit of the organization ([browser applications](sessions.md)).',
    values: 'limit',
  }),
  addresses: z
    .strictObject({
      failures: whole('failures', 1, 1_000_000).describe(
        'Refused requests (401, 403, 404, 405) that one client address may have in one window; then it has to wait.',
      ),
      windowSeconds: whole('seconds', 1, 86_400)
        .default(60)
        .describe('The length of the window, which begins with the first refused request.'),
    })
    .prefault({ failures: 60, windowSeconds: 60 })
    .describe('How often one client address may be refused before it has to wait.'),
});

export type LimitsFile = z.output<typeof limitsFile>;
