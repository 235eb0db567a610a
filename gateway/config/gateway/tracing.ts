// The shape of `tracing` in gateway.yaml, which sets the destination of traces and their sampling.

import { z } from 'zod';
import { secretEntry } from '../parts.ts';

const RATIO_RULE = 'must be a number from 0 to 1';

/** Exports traces by OTLP over HTTP, in JSON. */
export const tracing = z.strictObject({
  endpoint: z
    .string()
    .refine((text) => /^https?:\/\/[^\s@]+$/.test(text) && URL.canParse(text), 'must be an http:// or https:// address')
    .meta({
      description: 'The address of the collector, with path: `http://collector:4318/v1/traces`.',
      values: '`http://` or `https://` address',
    }),
  sampleRatio: z
    .number(RATIO_RULE)
    .min(0, RATIO_RULE)
    .max(1, RATIO_RULE)
    .default(0.01)
    .describe('The part of all traces that is recorded. 0: none; 1: all.'),
  serviceName: z
    .string()
    .min(1)
    .max(256)
    .default('gateway')
    .meta({ description: 'The `service.name` of the spans.', values: '1–256 characters' }),
  headersSecret: secretEntry
    .optional()
    .describe('A secret with lines of `Name: value`, which are sent to the collector as headers.'),
});
