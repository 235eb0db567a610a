// The shape of the outlier settings in upstreams.yaml: when to eject a target, when to stop requests to all, and health checks.

import { z } from 'zod';
import { whole } from './parts.ts';

const off = z.literal('off');

/** Ejects a failing target while others work. */
export const ejectionRules = z.strictObject({
  /** Consecutive failures. */
  failures: whole('failures', 1, 1000).default(5),
  /** Duration of the first ejection; doubles each further time. */
  baseSeconds: whole('seconds', 1, 3600).default(10),
  maxSeconds: whole('seconds', 1, 86_400).default(300),
  /** Maximum percentage of targets ejected at once; one of several is always allowed. */
  percentMax: whole('percent', 1, 100).default(50),
  /** Time after which a returned target has its full share. */
  slowStartSeconds: whole('seconds', 0, 3600).default(10),
});

/** Stops requests to an upstream that fails as a whole. */
export const breakerRules = z.strictObject({
  /** Percentage of failed requests in the window. */
  failurePercent: whole('percent', 1, 100).default(50),
  /** With fewer requests in the window the breaker stays closed. */
  requestsMin: whole('requests', 1, 1_000_000).default(20),
  windowSeconds: whole('seconds', 1, 3600).default(10),
  /** Time for which no request is sent. */
  openSeconds: whole('seconds', 1, 3600).default(5),
});

const error = 'must be off, or a block of keys and values';
export const ejection = z.union([off, ejectionRules], { error }).prefault({});
export const breaker = z.union([off, breakerRules], { error }).prefault({});

/** Sends a request to each target at a fixed interval. */
export const health = z.strictObject({
  path: z.string().regex(/^\/[!-~]{0,1023}$/, 'must be a path that begins with a slash, with visible ASCII only'),
  intervalMs: whole('milliseconds', 100, 3_600_000).default(5000),
  timeoutMs: whole('milliseconds', 10, 60_000).default(2000),
  /** Consecutive good answers that bring a target back. */
  healthyAfter: whole('checks', 1, 100).default(2),
  /** Consecutive failed checks that take a target out. */
  unhealthyAfter: whole('checks', 1, 100).default(3),
  /** The only good status; absent: 200 to 299. */
  status: whole('status', 100, 599).optional(),
});
