// The shape of `compression` in upstreams.yaml, which says whether the gateway compresses answers that the service has not compressed.

import { z } from 'zod';
import { whole } from '../parts.ts';

type Coding = 'zstd' | 'br' | 'gzip';

const CODINGS: ReadonlySet<string> = new Set<Coding>(['zstd', 'br', 'gzip']);
/**
 * This is not an enum, because the block is part of a union, and a mistake in an enum would be reported as a mistake of the whole block.
 */
const coding = z
  .string()
  .refine((text) => CODINGS.has(text), 'must be zstd, br or gzip')
  .meta({ pattern: '^(zstd|br|gzip)$' })
  .transform((text) => text as Coding);

export const compressionRules = z.strictObject({
  codings: z.array(coding).min(1, 'must name at least one of zstd, br and gzip').default(['zstd', 'br', 'gzip']).meta({
    description: 'The codings, in the order of preference among those that a client weighs alike.',
    values: '`zstd`, `br`, `gzip`',
  }),
  bytesMin: whole('bytes', 0, 1_048_576)
    .default(1024)
    .describe('Shorter answers stay as they are. An answer of unknown length is compressed if it streams.'),
});

export const compression = z
  .union([z.enum(['off', 'on']), compressionRules], { error: 'must be off, on, or a block of keys and values' })
  .transform((value) => (typeof value === 'string' ? { off: undefined, on: compressionRules.parse({}) }[value] : value))
  .prefault('off');
