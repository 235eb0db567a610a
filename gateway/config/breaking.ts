// Breaks of published contracts that somebody has decided on, with reason and end.

import { z } from 'zod';
import { day } from './versions.ts';

export const breaking = z.array(
  z.strictObject({
    /** Its operationId, as it was published. */
    operation: z.string().min(1),
    /** As `check` and `contract diff` name it. */
    rule: z.string().regex(/^[a-z]+(-[a-z]+)+$/, 'must be a rule as contract diff names it'),
    /** The last day on which `check` accepts it. */
    until: day,
    reason: z.string().min(10, 'must be a reason of at least 10 characters'),
  }),
);
