// The settings of idempotency: the block `idempotency` of config/gateway.yaml.

import { z } from 'zod';
import { whole } from '../config/parts.ts';

export const replaySettings = z.strictObject({
  retainSeconds: whole('seconds', 60, 2_592_000)
    .default(86_400)
    .describe(
      'The time for which the answer to a write with an `Idempotency-Key` is stored ([idempotency](idempotency.md)).',
    ),
  answerBytesMax: whole('bytes', 0, 1_048_576)
    .default(65_536)
    .describe(
      'The longest answer body that is stored. For a longer body, the store keeps only the fact that there was an answer.',
    ),
  organizationBytesMax: whole('bytes', 1_048_576, 1_099_511_627_776)
    .default(67_108_864)
    .describe(
      'What one organization may store within `retainSeconds`, in both modes together. Up to twice as much can exist at a time. Beyond it, answers are not stored.',
    ),
  replicas: whole('replicas', 0, 10)
    .default(0)
    .describe(
      'The number of replicas of Redis that must have a key before its write is sent (`WAIT`), so that a failover does not run it twice ([idempotency](idempotency.md#a-redis-that-fails-over)). Needs Redis.',
    ),
  replicasTimeoutMs: whole('milliseconds', 1, 500)
    .default(50)
    .describe('The time for which a write waits for `replicas`. Then it is refused, and nothing was sent.'),
});

export type ReplaySettings = z.output<typeof replaySettings>;
