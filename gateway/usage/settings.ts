// The settings of usage counts: the block `usage` of config/gateway.yaml.

import { z } from 'zod';
import { whole } from '../config/parts.ts';

export const usageSettings = z.strictObject({
  keepDays: whole('days', 1, 3660)
    .default(400)
    .describe('The number of days for which usage counts are kept ([usage](usage.md)).'),
});
