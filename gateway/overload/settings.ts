// The settings of overload protection: the block `overload` of config/gateway.yaml.

import { z } from 'zod';
import { whole } from '../config/parts.ts';

const SHARE_RULE = 'must be a number from 0.01 to 1';
export const overloadSettings = z.strictObject({
  maxInFlight: whole('requests', 1, 1_000_000)
    .default(10_000)
    .describe(
      'The largest number of concurrent requests in one process; more are refused ([reliability](reliability.md#overload)).',
    ),
  organizationShare: z
    .number(SHARE_RULE)
    .min(0.01, SHARE_RULE)
    .max(1, SHARE_RULE)
    .default(0.5)
    .describe(
      'The part of `maxInFlight` and of `bufferedBytesMax` that one organization may use. It also applies to the request slots of an upstream while other organizations wait for them. 1: everything.',
    ),
  loopDelayMs: whole('milliseconds', 10, 60_000)
    .default(500)
    .describe('The event loop delay above which requests are refused, after three measurements in a row.'),
  bufferedBytesMax: whole('bytes', 65_536, 1_099_511_627_776)
    .default(134_217_728)
    .describe('The largest amount of request bodies that one process buffers. At least `limits.bodyBytesMax`.'),
});

export type OverloadSettings = z.output<typeof overloadSettings>;
