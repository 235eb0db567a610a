// The settings `live` and `test` of an upstream: the addresses of its targets.

import { z } from 'zod';
import { isServerAddress } from './parts.ts';

/** What an address lacks that is nearly right. */
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
        'must be sandbox:platform, sandbox:mail, sandbox:files, examples:, gateway:, or http://host:port with or without a path',
    },
  )
  .meta({
    pattern: '^(sandbox:(platform|mail|files)|examples:|gateway:|session:|https?://[^/?#\\s@]+(/[A-Za-z0-9._~-]+)*/?)$',
  });
export const targets = z
  .union([target, z.array(target).min(1, 'must name at least one address')], {
    error:
      'must be sandbox:platform, sandbox:mail, sandbox:files, examples:, gateway:, session:, http://host:port with or without a path, or a list of these',
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
  const named = (upstream: string, addresses: string[]) =>
    addresses.map((address) => (address === 'examples:' ? address + upstream : address));
  return Object.fromEntries(
    Object.entries(entries).map(([upstream, { live, test, ...entry }]) => {
      const addresses = { live: named(upstream, live), ...(test && { test: named(upstream, test) }) };
      return [upstream, { ...entry, ...addresses } as unknown as Entry];
    }),
  );
}
