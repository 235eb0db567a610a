// The settings of accepted breaks of published contracts.

import { z } from 'zod';
import { day } from '../gateway/versions.ts';

/** The placeholder for the reason in a decision that a command prints. Clients read reasons, so the placeholder is refused as a reason. */
export const REASON_TO_WRITE = 'Write here why: clients read it.';

/** Accepted breaks of published contracts, each with a reason and an end date. */
export const breaking = z.array(
  z.strictObject({
    operation: z.string().min(1).meta({ description: 'The operation, as published.', values: 'operation id' }),
    rule: z
      .string()
      .regex(/^[a-z]+(-[a-z]+)+$/, 'must be a rule as contract diff names it')
      .meta({ description: 'The rule that is broken, as `check` and `contract diff` name it.', values: 'rule' }),
    until: day.describe('The last day on which `check` accepts the break.'),
    reason: z
      .string()
      .min(10, 'must be a reason of at least 10 characters')
      .refine((reason) => reason.trim() !== REASON_TO_WRITE, 'must say why, in words that clients can read')
      .meta({ description: 'Why the break is accepted.', values: 'at least 10 characters' }),
  }),
);

export type Breaking = z.output<typeof breaking>;
