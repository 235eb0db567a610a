// The settings of the targets of an upstream: their addresses (`live` and `test`), the rules of ejection and of the circuit breaker, and
// health checks.

import { z } from 'zod';
import { isServerAddress, portRule, whole } from '../parts.ts';

/** Returns what is missing in an address that is almost correct. */
function misspelt(input: unknown): string | undefined {
  const text = String(input);
  if (/^(examples|gateway|session)$/.test(text)) return `must be "${text}:", with a colon at its end`;
  const isServer =
    /^(localhost|[a-z0-9-]+\.[a-z0-9.-]+|[a-z0-9.-]+:\d+)(:\d+)?(\/|$)/i.test(text) &&
    isServerAddress(`http://${text}`);
  return isServer ? `must begin with http:// or https://, such as http://${text}` : undefined;
}

/** A sandbox service, the contract itself, the gateway itself, or the address of a server. */
const target = z
  .string()
  .refine(
    (text) => /^(sandbox:(platform|mail|files)|examples:|gateway:|session:)$/.test(text) || isServerAddress(text),
    {
      error: ({ input }) =>
        misspelt(input) ??
        portRule(input) ??
        'must be http://host:port with or without a path, examples:, gateway:, sandbox:platform, sandbox:mail or sandbox:files',
    },
  )
  .meta({
    pattern: '^(sandbox:(platform|mail|files)|examples:|gateway:|session:|https?://[^/?#\\s@]+(/[A-Za-z0-9._~-]+)*/?)$',
  });
export const targets = z
  .union([target, z.array(target).min(1, 'must name at least one address')], {
    error:
      'must be http://host:port with or without a path, examples:, gateway:, session:, sandbox:platform, sandbox:mail, sandbox:files, or a list of these',
  })
  .refine((value) => typeof value === 'string' || value.length === 1 || !value.includes('examples:'), {
    error: 'must not name a service beside examples:, which stands for none',
  })
  .refine(
    (value) =>
      typeof value === 'string' || value.length === 1 || !value.some((one) => /^(gateway|session):$/.test(one)),
    {
      error: 'must not name a service beside gateway: and session:, which stand for the gateway itself',
    },
  )
  .transform((value) => (typeof value === 'string' ? [value] : value));

/** Each upstream has its own contracts, so `examples:` becomes `examples:<name>`. */
export function withNamedExamples<Entry extends { live: string[]; test?: string[] | undefined }>(
  entries: Record<string, Entry>,
) {
  const namedTargets = (upstream: string, addresses: string[]) =>
    addresses.map((address) => (address === 'examples:' ? address + upstream : address));
  return Object.fromEntries(
    Object.entries(entries).map(([upstream, { live, test, ...entry }]) => {
      const addresses = { live: namedTargets(upstream, live), ...(test && { test: namedTargets(upstream, test) }) };
      return [upstream, { ...entry, ...addresses } as unknown as Entry];
    }),
  );
}

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
    .describe(
      'The percentage of targets that may be ejected at once. One of several targets may always be ejected; all targets together never.',
    ),
  slowStartSeconds: whole('seconds', 0, 3600)
    .default(10)
    .describe('The time in which a returning target regains its full share. 0: it gets the full share at once.'),
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
      'The longest time for which no request is sent. The first pause is a thirty-second of it, and each further pause is half as long again, until a request that tests the upstream is answered.',
    ),
});

const BLOCK_RULE = 'must be off, or a block of keys and values';
export const ejection = z.union([off, ejectionRules], { error: BLOCK_RULE }).prefault({});
export const breaker = z.union([off, breakerRules], { error: BLOCK_RULE }).prefault({});

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
