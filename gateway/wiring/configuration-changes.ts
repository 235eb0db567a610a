// Shows operators the configuration in force, and the differences to the previous configuration. Only the texts of small YAML and JSON
// files are kept, and no key of a certificate.

import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { lineDiff } from '../config/differences.ts';
import { changedFiles } from '../config/digests.ts';
import type { Configuration } from '../configuration.ts';
import { shownPath } from '../shared/file-text.ts';
import { isoTime } from '../shared/text.ts';

interface ConfigurationReport {
  readonly version: string;
  /** ISO 8601, UTC. */
  readonly since: string;
  readonly files: readonly { readonly file: string; readonly text: string | null }[];
  /** The previous configuration; null if there was none since the process started. */
  readonly before: { readonly version: string; readonly since: string } | null;
  readonly changes: readonly ChangedFile[];
  /** The last changes since the process started, newest first. */
  readonly latest: readonly NotedChange[];
}

interface ChangedFile {
  readonly file: string;
  readonly kind: 'changed' | 'added' | 'removed';
  /** The changed lines; null if the texts are too large, too different, or not of a kind that is kept. */
  readonly lines: readonly string[] | null;
}

/** A change of the configuration in force. `before` is the previous version. */
interface NotedChange {
  readonly version: string;
  readonly since: string;
  readonly before: string;
  readonly changes: readonly ChangedFile[];
}

export interface ConfigurationChanges {
  /**
   * Notes the configuration that is now in force. Reads its files afterwards, and keeps a text only if its digest shows that it is still
   * the text in force.
   */
  note(next: Configuration): void;
  report(): Promise<ConfigurationReport>;
}

const TEXT_BYTES_MAX = 256 * 1024;
const TEXTS_BYTES_MAX = 4 * 2 ** 20;
/** Number of changes whose lines are kept, which the audit log of the console links. */
const LATEST_MAX = 20;
const KINDS = ['.yaml', '.yml', '.json'];

interface NotedConfiguration {
  readonly version: string;
  readonly sinceMs: number;
  readonly digests: ReadonlyMap<string, string>;
  readonly texts: ReadonlyMap<string, string>;
}

/** @param isOwn whether a file is one of the gateway's own files, whose whole text is shown; contracts have separate pages */
export function createConfigurationChanges(now: () => number, isOwn: (file: string) => boolean): ConfigurationChanges {
  let inForce: NotedConfiguration | undefined;
  let before: NotedConfiguration | undefined;
  let latest: readonly NotedChange[] = [];
  let noting: Promise<void> = Promise.resolve();

  async function noteOne({ version, files: digests }: Configuration, sinceMs: number): Promise<void> {
    if (version === inForce?.version) return;
    const next: NotedConfiguration = { version, sinceMs, digests, texts: await textsOf(digests) };
    before = inForce;
    inForce = next;
    if (before === undefined) return;
    const change = { version, since: isoTime(sinceMs), before: before.version, changes: changesOf(before, next) };
    latest = [change, ...latest].slice(0, LATEST_MAX);
  }

  return {
    note(next) {
      const sinceMs = now();
      noting = noting.then(() => noteOne(next, sinceMs)).catch(() => undefined);
    },
    async report() {
      await noting;
      const { version = '', sinceMs = 0, digests = new Map(), texts = new Map() } = inForce ?? {};
      return {
        version,
        since: isoTime(sinceMs),
        files: [...digests.keys()]
          .map((file) => ({ file: shownPath(file), text: (isOwn(file) && texts.get(file)) || null }))
          .sort((one, other) => Number(other.text !== null) - Number(one.text !== null)),
        before: before === undefined ? null : { version: before.version, since: isoTime(before.sinceMs) },
        changes: latest[0]?.changes ?? [],
        latest,
      };
    },
  };
}

async function textsOf(digests: ReadonlyMap<string, string>): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  let left = TEXTS_BYTES_MAX;
  for (const [file, digest] of digests) {
    if (!KINDS.includes(extname(file))) continue;
    const text = await textOf(file, digest).catch(() => undefined);
    if (text === undefined || text.length > left) continue;
    left -= text.length;
    texts.set(file, text);
  }
  return texts;
}

/** Returns the text of a file; undefined if the file is too large, or has been written again since. */
async function textOf(file: string, digest: string): Promise<string | undefined> {
  if ((await stat(file)).size > TEXT_BYTES_MAX) return undefined;
  const bytes = await readFile(file);
  return createHash('sha256').update(bytes).digest('hex') === digest ? bytes.toString() : undefined;
}

function changesOf(before: NotedConfiguration, after: NotedConfiguration): readonly ChangedFile[] {
  return changedFiles(before.digests, after.digests).map((file) => {
    const kind = !before.digests.has(file) ? 'added' : !after.digests.has(file) ? 'removed' : 'changed';
    const [old, next] = [before.texts.get(file), after.texts.get(file)];
    const isKnown =
      kind === 'added'
        ? next !== undefined
        : kind === 'removed'
          ? old !== undefined
          : old !== undefined && next !== undefined;
    return { file: shownPath(file), kind, lines: (isKnown && lineDiff(old ?? '', next ?? '')) || null };
  });
}
