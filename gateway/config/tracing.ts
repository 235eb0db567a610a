// The shape of `tracing` in gateway.yaml: the destination of traces and their sampling.

import { z } from 'zod';
import { secretEntry } from './parts.ts';

const ratio = 'must be a number from 0 to 1';

/** Exports traces by OTLP over HTTP, in JSON. */
export const tracing = z.strictObject({
  /** The URL of the collector, with path. */
  endpoint: z
    .string()
    .refine(
      (text) => /^https?:\/\/[^\s@]+$/.test(text) && URL.canParse(text),
      'must be an http:// or https:// address',
    ),
  /** The sampled share of traces, from 0 to 1. */
  sampleRatio: z.number(ratio).min(0, ratio).max(1, ratio).default(0.01),
  serviceName: z.string().min(1).max(256).default('gateway'),
  /** Entry of the secrets store: `Name: value` lines, sent to the collector as headers. */
  headersSecret: secretEntry.optional(),
});
