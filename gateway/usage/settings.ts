// The settings of use: the block `usage` of config/gateway.yaml.

import { z } from 'zod';
import { whole } from '../config/parts.ts';

export const usageSettings = z.strictObject({
  keepDays: whole('days', 1, 3660)
    .default(400)
    .describe('The number of days for which the use of organizations is kept ([usage](usage.md)).'),
});
