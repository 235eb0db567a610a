// Reads an export in batches, in bounded memory. Checks the form and order of every line, and that no line is missing.

import type { StoredKey } from '../../auth/store/stored-key.ts';
import type { Organization } from '../../exchange/caller.ts';
import { amountOf, type ExportRecord, parseExportRecord, parseHeader } from './export-form.ts';

/** The records per transaction, for which other writers wait some tens of milliseconds. */
const BATCH = 2000;
/** Bounds the memory for a file without line breaks; lines of an export are much shorter. */
const LINE_LENGTH_MAX = 1_048_576;
const OTHER_PEPPER =
  'its digests were made with another key_pepper than this store has, so none of its keys would be recognised here. Start with a new, empty store and the key_pepper of the one it came from: the variable KEY_PEPPER, or a file key_pepper in SECRETS_DIR.';

export interface Batch {
  readonly organizations: Organization[];
  readonly keys: StoredKey[];
}

interface ReadOptions {
  /** Pepper fingerprint of the target store. */
  readonly pepperFingerprint: string;
  /** Throws with a line number and the reason why the line is wrong. */
  wrong(line: number, reason: string): never;
}

/** Reads batches of records from the text of an export. Before it throws for a wrong line, it has yielded all full batches. */
export async function* readExport(text: AsyncIterable<string>, options: ReadOptions): AsyncGenerator<Batch> {
  const reader = createReader(options);
  let batch: Batch = { organizations: [], keys: [] };
  for await (const lines of linesOf(text)) {
    for (const line of lines) {
      const record = reader.read(line);
      if (record?.kind === 'organization') batch.organizations.push(record.organization);
      if (record?.kind === 'key') batch.keys.push(record.key);
      if (batch.organizations.length + batch.keys.length < BATCH) continue;
      yield batch;
      batch = { organizations: [], keys: [] };
    }
  }
  reader.finish();
  yield batch;
}

function createReader({ pepperFingerprint, wrong: wrongAt }: ReadOptions) {
  // The set contains only ids, about a hundred bytes per organization.
  const organizations = new Set<string>();
  const counts = { organizations: 0, keys: 0 };
  let number = 0;
  let ended = false;
  function wrong(reason: string): never {
    return wrongAt(Math.max(number, 1), reason);
  }

  function place(record: ExportRecord): void {
    switch (record.kind) {
      case 'organization':
        organizations.add(record.organization.id);
        counts.organizations += 1;
        break;
      case 'key':
        if (!organizations.has(record.key.organization)) {
          wrong(`the organization ${record.key.organization} of this key does not come before it.`);
        }
        counts.keys += 1;
        break;
      case 'end':
        if (counts.organizations !== record.counts.organizations || counts.keys !== record.counts.keys) {
          wrong(`lines are missing: it had ${amountOf(record.counts)}, and ${amountOf(counts)} are here.`);
        }
        ended = true;
    }
  }

  return {
    /** Returns undefined for the header. */
    read(line: string): ExportRecord | undefined {
      number += 1;
      if (ended) wrong('there is something after the end.');
      if (number === 1) {
        if (parseHeader(line, wrong) !== pepperFingerprint) wrong(OTHER_PEPPER);
        return undefined;
      }
      const record = parseExportRecord(line, wrong);
      place(record);
      return record;
    },
    finish(): void {
      if (!ended) wrong(number === 0 ? 'there is nothing in it.' : 'it was cut off after this line.');
    },
  };
}

/** Splits into lines. node:readline also splits at U+2028, which may occur in a name. */
async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  let rest = '';
  for await (const piece of text) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    yield lines;
    if (rest.length <= LINE_LENGTH_MAX) continue;
    // Parsing a partial line fails and reports the line.
    yield [rest];
    rest = '';
  }
  if (rest !== '') yield [rest];
}
