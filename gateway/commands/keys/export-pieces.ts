// Generates the text of an export from a store in use.

import type { KeyStore, StoredKey } from '../../auth/store/key-store.ts';
import { visibleLines } from '../../visible-text.ts';
import { type Counts, endLine, headerLine, keyLine, organizationLine } from './export-form.ts';

/** Yields the text in pieces and calls `onWritten` with the counts so far. */
export async function* exportPieces(
  store: KeyStore,
  nowMs: number,
  onWritten: (counts: Counts) => void,
): AsyncGenerator<string> {
  // Ids only: about a hundred bytes per organization.
  const organizations = new Set<string>();
  let keys = 0;
  yield headerLine(store.pepperFingerprint, nowMs);
  for await (const page of store.organizations.scan()) {
    for (const { id } of page) organizations.add(id);
    yield visibleLines(page.map(organizationLine).join(''));
    onWritten({ organizations: organizations.size, keys });
  }
  for await (const page of store.keys.scan()) {
    yield visibleLines((await latecomers(store, page, organizations)) + page.map(keyLine).join(''));
    keys += page.length;
    onWritten({ organizations: organizations.size, keys });
  }
  yield endLine({ organizations: organizations.size, keys });
}

/** Lines for organizations of these keys that were created after the organizations had been read. */
async function latecomers(store: KeyStore, keys: readonly StoredKey[], written: Set<string>): Promise<string> {
  let lines = '';
  for (const { id, organization } of keys) {
    if (written.has(organization)) continue;
    const record = await store.organizations.get(organization);
    if (record === undefined) throw new Error(`The key ${id} has no organization: the store was emptied meanwhile.`);
    written.add(organization);
    lines += organizationLine(record);
  }
  return lines;
}
