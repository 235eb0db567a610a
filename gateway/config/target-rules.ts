// The shape of the outlier settings in upstreams.yaml: when to eject a target, when to stop requests to all, and health checks.

import { z } from 'zod';
import { whole } from './parts.ts';

const off = z.literal('off');

/** Ejects a failing target while others work. */
export const ejectionRules = z.strictObject({
  failures: whole('failures', 1, 1000).default(5).describe('Consecutive failures that eject a target.'),
  baseSeconds: whole('seconds', 1, 3600)
    .default(10)
    .describe('The duration of the first ejection. It doubles with each further ejection.'),
  maxSeconds: whole('seconds', 1, 86_400).default(300).describe('The longest duration of an ejection.'),
  percentMax: whole('percent', 1, 100)
    .default(50)
    .describe('The percentage of targets that may be ejected at once. One of several always may; all of them never.'),
  slowStartSeconds: whole('seconds', 0, 3600)
    .default(10)
    .describe('The time in which a returning target grows to its full share. 0: it has the full share at once.'),
});

/** Stops requests to an upstream that fails as a whole. */
export const breakerRules = z.strictObject({
  failurePercent: whole('percent', 1, 100)
    .default(50)
    .describe(
      'The percentage of failed requests in the window that opens the breaker. Refused connections do not count.',
    ),
  requestsMin: whole('requests', 1, 1_000_000)
    .default(20)
    .describe('With fewer requests in the window, the breaker stays closed.'),
  windowSeconds: whole('seconds', 1, 3600).default(10).describe('The length of the window.'),
  openSeconds: whole('seconds', 1, 3600)
    .default(5)
    .describe(
      'The longest time for which no request is sent. The first time is a thirty-second of it, and each further one half as long again, until a request that tests the upstream is answered.',
    ),
});

const error = 'must be off, or a block of keys and values';
export const ejection = z.union([off, ejectionRules], { error }).prefault({});
export const breaker = z.union([off, breakerRules], { error }).prefault({});

/** Sends a request to each target at a fixed interval. */
export const health = z.strictObject({
  path: z
    .string()
    .regex(/^\/[!-~]{0,1023}$/, 'must be a path that begins with a slash, with visible ASCII only')
    .meta({ description: 'The path that is requested from each target, with GET.', values: 'path, `/healthz`' }),
  intervalMs: whole('milliseconds', 100, 3_600_000)
    .default(5000)
    .describe('The time from one check to the next. It varies at random by a tenth.'),
  timeoutMs: whole('milliseconds', 10, 60_000)
    .default(2000)
    .describe('The deadline for the headers of the answer, connecting included.'),
  healthyAfter: whole('checks', 1, 100).default(2).describe('Consecutive good answers that bring a target back.'),
  unhealthyAfter: whole('checks', 1, 100).default(3).describe('Consecutive failed checks that take a target out.'),
  status: whole('status', 100, 599).optional().describe('The only good status. Default: 200 to 299 are good.'),
});
