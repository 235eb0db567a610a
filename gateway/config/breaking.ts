// Accepted breaks of published contracts, each with a reason and an end date.

import { z } from 'zod';
import { day } from './versions.ts';

export const breaking = z.array(
  z.strictObject({
    /** The operationId as published. */
    operation: z.string().min(1),
    /** The name that `check` and `contract diff` use. */
    rule: z.string().regex(/^[a-z]+(-[a-z]+)+$/, 'must be a rule as contract diff names it'),
    /** The last day on which `check` accepts the break. */
    until: day,
    reason: z.string().min(10, 'must be a reason of at least 10 characters'),
  }),
);
