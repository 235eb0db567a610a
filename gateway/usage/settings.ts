// The settings of usage counts: the block `usage` of config/gateway.yaml.

import { z } from 'zod';
import { whole } from '../config/parts.ts';

export const KEEP_DAYS_MAX = 3660;

export const usageSettings = z.strictObject({
  keepDays: whole('days', 1, KEEP_DAYS_MAX)
    .default(400)
    .describe('The number of days for which usage counts are kept ([usage](usage.md)).'),
});
