// The shape of what upstreams.yaml says about targets that fail: when one gets nothing, when none does, and how they are asked for it.

import { z } from 'zod';
import { whole } from './parts.ts';

const off = z.literal('off');

/** Takes a target that fails out, while others go on. */
export const ejectionRules = z.strictObject({
  /** Failures in a row. */
  failures: whole('failures', 1, 1000).default(5),
  /** The first time; twice as long each further time. */
  baseSeconds: whole('seconds', 1, 3600).default(10),
  maxSeconds: whole('seconds', 1, 86_400).default(300),
  /** Of the targets that may be out at once; one of several always may. */
  percentMax: whole('percent', 1, 100).default(50),
  /** Until a target that is back has its full share. */
  slowStartSeconds: whole('seconds', 0, 3600).default(10),
});

/** Spares an upstream that fails as a whole. */
export const breakerRules = z.strictObject({
  /** Of the requests in the window. */
  failurePercent: whole('percent', 1, 100).default(50),
  /** Fewer in the window say nothing. */
  requestsMin: whole('requests', 1, 1_000_000).default(20),
  windowSeconds: whole('seconds', 1, 3600).default(10),
  /** How long nothing is sent. */
  openSeconds: whole('seconds', 1, 3600).default(5),
});

const error = 'must be off, or a block of keys and values';
export const ejection = z.union([off, ejectionRules], { error }).prefault({});
export const breaker = z.union([off, breakerRules], { error }).prefault({});

/** Asks each target again and again whether it works. */
export const health = z.strictObject({
  path: z.string().regex(/^\/[!-~]{0,1023}$/, 'must be a path that begins with a slash, with visible ASCII only'),
  intervalMs: whole('milliseconds', 100, 3_600_000).default(5000),
  timeoutMs: whole('milliseconds', 10, 60_000).default(2000),
  /** Good answers in a row that bring a target back. */
  healthyAfter: whole('checks', 1, 100).default(2),
  /** Failed checks in a row that take it out. */
  unhealthyAfter: whole('checks', 1, 100).default(3),
  /** The only good status; absent: 200 to 299. */
  status: whole('status', 100, 599).optional(),
});
