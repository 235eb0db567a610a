// Versions of the schema of a SQLite file: its `user_version` counts the steps that were applied to it.

import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from './sqlite.ts';

type Steps = readonly string[];

/**
 * Applies the steps that a file lacks, in one transaction. Throws a sentence if the file is newer than this gateway.
 *
 * @param upgrade told of the version of the file, before any step; calls `apply` once
 */
export function applySteps(
  database: DatabaseSync,
  steps: Steps,
  upgrade: (version: number, apply: () => void) => void = (_version, apply) => apply(),
): void {
  if (versionOf(database) < steps.length) {
    inTransaction(database, () => {
      // Another process may have upgraded the file while this one waited for the lock.
      const version = versionOf(database);
      if (version >= steps.length) return;
      upgrade(version, () => {
        for (const step of steps.slice(version)) database.exec(step);
        database.exec(`PRAGMA user_version = ${steps.length}`);
      });
    });
  }
  checkedVersion(database, steps);
}

/** Returns the version of a file, 0 for an empty one. Throws a sentence if the file is newer than this gateway. */
export function checkedVersion(database: DatabaseSync, steps: Steps): number {
  const version = versionOf(database);
  if (version <= steps.length) return version;
  throw new Error(
    `it has schema version ${version} and this gateway knows versions up to ${steps.length}; run the newer gateway that wrote it.`,
  );
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version);
}
