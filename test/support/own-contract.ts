// A gateway with its own contract beside things of an upstream, and the requests of organizations for both.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Administer, OWN_ENTRY } from './administration.ts';
import { shippedContracts } from './gateway.ts';
import { thingsAt } from './things.ts';

/** The files of the shipped contract of the gateway, by name. */
export const ownContract: Readonly<Record<string, string>> = Object.fromEntries(
  globSync('gateway/*.yaml', { cwd: shippedContracts }).map((file) => [
    file,
    readFileSync(join(shippedContracts, file), 'utf8'),
  ]),
);

/** Returns the options of such a gateway. */
export function ownContractAndThings(upstreamUrl: string, entry: Record<string, unknown> = {}) {
  const { contracts, upstreams } = thingsAt(upstreamUrl, entry);
  return { contracts: { ...contracts, ...ownContract }, upstreams: { ...upstreams, ...OWN_ENTRY } };
}

/** All pages of a list, one after the other. @param between called before each further page */
export async function allPages(
  administer: Administer,
  line: string,
  key: string,
  between: (page: number) => Promise<void> = async () => {},
  // biome-ignore lint/suspicious/noExplicitAny: records of all lists.
): Promise<any[]> {
  const records: unknown[] = [];
  let cursor: string | null = null;
  for (let page = 0; ; page += 1) {
    const more: string = cursor === null ? '' : `${line.includes('?') ? '&' : '?'}cursor=${cursor}`;
    const { status, body, text } = await administer(line + more, { key });
    if (status !== 200) throw new Error(`${line}: ${status} ${text}`);
    records.push(...body.data);
    if (body.has_more !== (body.cursor !== null)) throw new Error('has_more and cursor disagree');
    if (body.cursor === null) return records;
    cursor = body.cursor;
    await between(page);
  }
}
