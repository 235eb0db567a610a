// The part of the Compose specification that deploy/compose.yaml uses. It finds misspelled keys and values of another kind.

import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const text = z.string().min(1);
const size = z.string().regex(/^\d+[kmg]$/);
const duration = z.string().regex(/^(\d+(ms|s|m|h))+$/);
const healthCheck = z.union([
  z.strictObject({ disable: z.literal(true) }),
  z.strictObject({ test: z.tuple([z.literal('CMD')], text), interval: duration, timeout: duration, retries: z.int() }),
]);

const service = z.strictObject({
  build: z.strictObject({ context: text, dockerfile: text }).optional(),
  image: z.string().regex(/^[\w./-]+:[\w.-]+$/),
  command: z.array(text).optional(),
  user: z.string().optional(),
  environment: z.record(z.string(), z.string()).optional(),
  secrets: z.array(text).optional(),
  depends_on: z.record(text, z.strictObject({ condition: z.enum(['service_started', 'service_healthy']) })).optional(),
  ports: z.array(z.string().regex(/^([\d.]+:)?\d+:\d+$/)).optional(),
  volumes: z.array(z.string().regex(/^[^:]+:\/[^:]*(:ro)?$/)).optional(),
  networks: z.union([z.array(text), z.record(text, z.strictObject({ ipv4_address: z.ipv4().optional() }))]),
  healthcheck: healthCheck.optional(),
  read_only: z.literal(true),
  tmpfs: z.array(text).optional(),
  init: z.boolean().optional(),
  cap_drop: z.array(text).optional(),
  security_opt: z.array(text),
  cpus: z.number().positive().optional(),
  mem_limit: size.optional(),
  ulimits: z.strictObject({ nofile: z.strictObject({ soft: z.int(), hard: z.int() }) }).optional(),
  stop_grace_period: duration.optional(),
  restart: z.enum(['unless-stopped', 'always', 'on-failure', 'no']),
  logging: z.strictObject({ driver: text, options: z.record(text, z.string()) }).optional(),
});

const compose = z.strictObject({
  name: text,
  'x-gateway': z.unknown(),
  services: z.record(text, service),
  networks: z.record(
    text,
    z.strictObject({
      internal: z.boolean().optional(),
      ipam: z.strictObject({ config: z.array(z.strictObject({ subnet: z.cidrv4() })) }).optional(),
    }),
  ),
  volumes: z.record(text, z.strictObject({})),
  secrets: z.record(text, z.strictObject({ file: text })),
});

export type Compose = z.infer<typeof compose>;

/** Throws for everything that the specification, as far as it stands above, does not allow. */
export function parseCompose(source: string): Compose {
  return compose.parse(parse(source, { merge: true }));
}

export function readCompose(): Compose {
  return parseCompose(readFileSync(new URL('../../../deploy/compose.yaml', import.meta.url), 'utf8'));
}
