// The embedded usage store: one SQLite file in the data directory. Several processes may write to it.

import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { inTransaction, openSqlite } from '../shared/stores/sqlite.ts';
import { applySteps } from '../shared/stores/sqlite-schema.ts';
import { PERIOD_UNITS, type PeriodUnit, periodStart, spanAt } from './periods.ts';
import { USAGE_FILE, USAGE_STEPS } from './sqlite-schema.ts';
import {
  DETAILS_MAX,
  FOLDED,
  keptFromMs,
  MARKS_KEPT_MS,
  type ScanOptions,
  type StatusClass,
  type UsageBatch,
  type UsageCount,
  type UsageStore,
  type UsageStoreOptions,
} from './store.ts';

/** The timeout is short, because requests wait during this time. A batch that could not be written is sent again. */
const BUSY_TIMEOUT_MS = 50;
/** Number of rows that are read without a pause, which takes two milliseconds. */
const ROWS_AT_ONCE = 1000;
/** Number of rows that one call of `purge` removes. */
const PURGE_ROWS = 500;

interface SqliteUsageStoreOptions extends UsageStoreOptions {
  /** The data directory. It is created if it is absent. */
  readonly directory: string;
  /** See `applySteps`. */
  readonly acceptOneWay?: boolean | undefined;
}

/** Opens the store. Throws an Error for operators if the file cannot be opened. */
export function createSqliteUsageStore(options: SqliteUsageStoreOptions): UsageStore {
  const { directory, acceptOneWay, keepDays, now, detailsMax = DETAILS_MAX } = options;
  const database = openSqlite({
    directory,
    file: USAGE_FILE,
    what: 'The usage store',
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    prepare: (opened) => applySteps(opened, USAGE_STEPS, { acceptOneWay }),
  });
  const addEntries = createAddEntries(database, detailsMax);
  const purgeSpans = createPurgeSpans(database);
  const note = database.prepare(`
    INSERT INTO written VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
    SET number = excluded.number, written_at = excluded.written_at WHERE number < excluded.number`);
  const forget = database.prepare('DELETE FROM written WHERE writer = ?');
  const setMark = database.prepare(
    'INSERT INTO marks VALUES (?, ?) ON CONFLICT DO UPDATE SET complete_until = excluded.complete_until',
  );
  const removeMark = database.prepare('DELETE FROM marks WHERE writer = ?');
  const selectMarks = database.prepare('SELECT complete_until FROM marks');
  // Processes that were killed have left their marks and batch numbers.
  const purgeMarks = database.prepare('DELETE FROM marks WHERE complete_until < ?');
  const purgeWritten = database.prepare('DELETE FROM written WHERE written_at < ?');

  function add(writer: string, batch: UsageBatch): void {
    const { number, organization } = batch;
    if (note.run(writer, organization, number, now()).changes === 0) return;
    for (const unit of PERIOD_UNITS) addEntries(unit, batch);
  }

  return {
    // A transaction with 32 batches takes about a millisecond, during which requests wait.
    batchesMax: 32,
    add(writer, batches) {
      inTransaction(database, () => {
        for (const batch of batches) add(writer, batch);
      });
    },
    mark(writer, completeUntilMs) {
      inTransaction(database, () => {
        setMark.run(writer, completeUntilMs);
        forget.run(writer);
      });
    },
    end(writer) {
      removeMark.run(writer);
    },
    marks: () => selectMarks.all().map((row) => Number(row.complete_until)),
    scan: createScan(database),
    purge() {
      purgeMarks.run(now() - MARKS_KEPT_MS);
      purgeWritten.run(now() - MARKS_KEPT_MS);
      purgeSpans(keptFromMs(now(), keepDays()));
    },
    close: () => database.close(),
  };
}

function createAddEntries(database: DatabaseSync, detailsMax: number) {
  const update = database.prepare(`
    UPDATE counts SET requests = requests + ?
    WHERE organization = ? AND unit = ? AND period = ? AND operation = ? AND key = ? AND class = ?`);
  const insert = database.prepare(`
    INSERT INTO counts (requests, organization, unit, period, operation, key, class) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`);
  const selectDetails = database.prepare(
    'SELECT details FROM spans WHERE organization = ? AND unit = ? AND starts_at = ?',
  );
  const setDetails = database.prepare(
    'INSERT INTO spans VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET details = excluded.details',
  );

  return function addEntries(unit: PeriodUnit, { organization, dayMs, entries }: UsageBatch): void {
    const { startMs, endMs } = spanAt(unit, dayMs);
    const before = Number(selectDetails.get(organization, unit, startMs)?.details ?? 0);
    let details = before;
    for (const { requests, hourMs, operation, key, statusClass } of entries) {
      const periodMs = periodStart(unit, hourMs);
      if (update.run(requests, organization, unit, periodMs, operation, key, statusClass).changes > 0) continue;
      const shown = details < detailsMax ? { operation, key } : FOLDED;
      insert.run(requests, organization, unit, periodMs, shown.operation, shown.key, statusClass);
      details += 1;
    }
    if (details > before) setDetails.run(organization, unit, startMs, endMs, Math.min(details, detailsMax));
  };
}

function createScan(database: DatabaseSync): UsageStore['scan'] {
  const select = database.prepare(`
    SELECT period, operation, key, class, requests FROM counts
    WHERE organization = ? AND unit = ? AND period < ? AND (period, operation, key, class) > (?, ?, ?, ?)
      AND (? IS NULL OR operation = ?) AND (? IS NULL OR key = ?)
    ORDER BY period, operation, key, class LIMIT ${ROWS_AT_ONCE}`);

  return async function* scan({ organization, span, fromMs, toMs, ...filter }: ScanOptions) {
    const operation = filter.operation ?? null;
    const key = filter.key ?? null;
    const beforeMs = Math.min(toMs, span.endMs);
    let after: readonly [number, string, string, number] = [Math.max(fromMs, span.startMs), '', '', 0];
    for (;;) {
      const rows = select.all(organization, span.unit, beforeMs, ...after, operation, operation, key, key).map(toCount);
      const last = rows.at(-1);
      if (last === undefined) return;
      const isLast = rows.length < ROWS_AT_ONCE;
      yield { counts: rows, read: rows.length, untilMs: isLast ? beforeMs : last.periodMs };
      if (isLast) return;
      after = [last.periodMs, last.operation, last.key, last.statusClass];
      await turn();
    }
  };
}

function toCount(row: Record<string, unknown>): UsageCount {
  return {
    periodMs: Number(row.period),
    operation: String(row.operation),
    key: String(row.key),
    statusClass: Number(row.class) as StatusClass,
    requests: Number(row.requests),
  };
}

/** Removes a part of one span that ended before a moment. */
function createPurgeSpans(database: DatabaseSync): (beforeMs: number) => void {
  const select = database.prepare(
    'SELECT organization, unit, starts_at, ends_at FROM spans WHERE ends_at <= ? LIMIT 1',
  );
  const columns = 'organization, unit, period, operation, key, class';
  const removeCounts = database.prepare(`
    DELETE FROM counts WHERE (${columns}) IN (
      SELECT ${columns} FROM counts WHERE organization = ? AND unit = ? AND period >= ? AND period < ? LIMIT ${PURGE_ROWS})`);
  const removeSpan = database.prepare('DELETE FROM spans WHERE organization = ? AND unit = ? AND starts_at = ?');

  return function purgeSpans(beforeMs) {
    const span = select.get(beforeMs);
    if (span === undefined) return;
    const { organization = null, unit = null, starts_at: startMs = null, ends_at: endMs = null } = span;
    inTransaction(database, () => {
      const { changes } = removeCounts.run(organization, unit, startMs, endMs);
      if (changes < PURGE_ROWS) removeSpan.run(organization, unit, startMs);
    });
  };
}
