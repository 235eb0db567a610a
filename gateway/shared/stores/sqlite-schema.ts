// Upgrades the schema of a SQLite file, whose `user_version` counts the applied steps. An earlier gateway refuses a file of a later
// version, so each step is one way for existing files. A start applies a step only if the operator has accepted that. A change that an
// earlier gateway tolerates is not a step, such as a new table that is created if it does not exist.

import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from './sqlite.ts';

export type SchemaSteps = readonly string[];

interface ApplyOptions {
  /** Whether a file with content may be upgraded, although earlier gateways cannot open it afterwards. */
  readonly acceptOneWay?: boolean | undefined;
  /** Called with the version of the file before any step. It must call `apply` once. */
  readonly upgrade?: (version: number, apply: () => void) => void;
}

/**
 * Applies the steps that a file lacks, in one transaction. Throws an Error for operators if the file is newer than this gateway, or older
 * and not accepted.
 */
export function applySteps(database: DatabaseSync, steps: SchemaSteps, options: ApplyOptions = {}): void {
  const { acceptOneWay = false, upgrade = (_version, apply) => apply() } = options;
  if (versionOf(database) < steps.length) {
    inTransaction(database, () => {
      // Another process may have upgraded the file while this process waited for the lock.
      const version = versionOf(database);
      if (version >= steps.length) return;
      if (version > 0 && !acceptOneWay) throw new Error(`${oneWay(version, steps)} ${ACCEPT}`);
      upgrade(version, () => {
        for (const step of steps.slice(version)) database.exec(step);
        database.exec(`PRAGMA user_version = ${steps.length}`);
      });
    });
  }
  checkedVersion(database, steps);
}

/** The remedy for a file whose upgrade cannot be undone. */
export const ACCEPT =
  'Back up the data directory (docs/operations.md, Upgrades), then start the gateway once with --accept-one-way.';

/** Returns why operators have to accept the upgrade of this file; undefined if it needs no upgrade. Changes nothing. */
export function oneWayReason(database: DatabaseSync, steps: SchemaSteps): string | undefined {
  const version = versionOf(database);
  return version > 0 && version < steps.length ? oneWay(version, steps) : undefined;
}

function oneWay(version: number, steps: SchemaSteps): string {
  return `it has schema version ${version}, this gateway needs version ${steps.length}, and then no earlier gateway opens it any more.`;
}

/** Returns the version of a file; 0 for an empty file. Throws an Error for operators if the file is newer than this gateway. */
export function checkedVersion(database: DatabaseSync, steps: SchemaSteps): number {
  const version = versionOf(database);
  if (version <= steps.length) return version;
  throw new Error(
    `it has schema version ${version} and this gateway knows versions up to ${steps.length}; run the newer gateway that wrote it.`,
  );
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version);
}
