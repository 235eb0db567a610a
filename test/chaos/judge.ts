// Judges each answer, and in the end, from the journal, whether each write was done as often as reported.

import type { Disturbances } from './disturbances.ts';
import { type Exchange, errorOf, isSuccess, labelOf } from './exchanges.ts';
import type { Execution, State } from './journal.ts';
import { refusalFault } from './refusals.ts';

export interface Verdict {
  readonly sent: number;
  readonly answered: number;
  /** By their end: `200`, `504 upstream_timeout`, `cut`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Wrong answers. */
  readonly wrong: readonly string[];
  /** Neither answered nor with a reason for it. */
  readonly lost: readonly string[];
  readonly hanging: readonly string[];
  readonly doubled: readonly string[];
  readonly worstMs: number;
  /** Writes that were answered with success, and executed. */
  readonly writesDone: number;
  /** Writes that were sent more than once, with their key. */
  readonly writesRepeated: number;
}

export interface Judge {
  note(exchange: Exchange): void;
  /** Something that is not about one exchange. */
  object(what: string): void;
  conclude(executions: readonly Execution[]): Verdict;
}

export function createJudge(disturbances: Disturbances): Judge {
  const outcomes: Record<string, number> = {};
  const wrong: string[] = [];
  const lost: string[] = [];
  const hanging: string[] = [];
  const reads: Exchange[] = [];
  const writes = new Map<string, Exchange[]>();
  let sent = 0;
  let answered = 0;
  let worstMs = 0;

  function note(exchange: Exchange): void {
    const { outcome, sentAt, endedAt, write } = exchange;
    sent += 1;
    outcomes[labelOf(exchange)] = (outcomes[labelOf(exchange)] ?? 0) + 1;
    worstMs = Math.max(worstMs, endedAt - sentAt);
    if (write !== undefined) writes.set(write, [...(writes.get(write) ?? []), exchange]);
    if (outcome.kind === 'answered') answered += 1;
    if (outcome.kind === 'hanging') hanging.push(told(exchange));
    else if (outcome.kind === 'broken') {
      if (!disturbances.explainBreak(exchange)) lost.push(told(exchange));
    } else if (outcome.kind === 'cut') {
      if (!disturbances.explainFailure(exchange)) lost.push(told(exchange));
    } else if (outcome.kind === 'left') {
      // Nothing is known of it, and no fault of the gateway.
    } else if (isSuccess(exchange)) {
      if (exchange.kind === 'get' || exchange.kind === 'list') reads.push(exchange);
    } else {
      const fault = refusalFault(exchange, disturbances);
      if (fault !== undefined) wrong.push(`${fault}: ${told(exchange)}`);
    }
  }

  /** Where the upstream does not honour keys, a write may be executed twice only if Redis came back without its memory in between. */
  function isForgotten(attempts: readonly Exchange[]): boolean {
    const [first, last] = [attempts[0] as Exchange, attempts.at(-1) as Exchange];
    const span = { sentAt: first.sentAt, endedAt: last.endedAt };
    return first.isPlain === true && attempts.length > 1 && disturbances.explainUnknownKey(span);
  }

  function conclude(executions: readonly Execution[]): Verdict {
    const journal = indexOf(executions);
    const doubled: string[] = [];
    let writesDone = 0;
    let writesRepeated = 0;
    for (const [write, attempts] of writes) {
      const done = journal.byWrite.get(write) ?? [];
      if (attempts.length > 1) writesRepeated += 1;
      if (attempts.some(isSuccess)) writesDone += 1;
      if (done.length > 1 && !isForgotten(attempts))
        doubled.push(`${done.length} times: ${told(attempts[0] as Exchange)}`);
      wrong.push(...faultsOfWrite(attempts, done));
    }
    for (const read of reads) {
      const fault = read.kind === 'get' ? faultOfGet(read, journal) : faultOfList(read, journal);
      if (fault !== undefined) wrong.push(`${fault}: ${told(read)}`);
    }
    const invented = executions.filter(({ write }) => !writes.has(write));
    wrong.push(...invented.map(({ write }) => `the write ${write} was never sent`));
    return { sent, answered, outcomes, wrong, lost, hanging, doubled, worstMs, writesDone, writesRepeated };
  }

  return { note, object: (what) => void wrong.push(what), conclude };
}

/** One exchange in one line. */
function told(exchange: Exchange): string {
  const { kind, organization, entry, write, key, sentAt, endedAt, outcome } = exchange;
  const of = [entry, write, key === undefined ? undefined : 'keyed'].filter(Boolean).join(' ');
  const body =
    outcome.kind === 'answered' ? outcome.body.slice(0, 300) : outcome.kind === 'broken' ? outcome.reason : '';
  const at = new Date(sentAt).toISOString();
  return `${at} ${kind} ${of} of ${organization}, ${labelOf(exchange)} after ${endedAt - sentAt} ms ${body}`;
}

interface Index {
  readonly byWrite: ReadonlyMap<string, readonly Execution[]>;
  /** By id and version. */
  readonly byVersion: ReadonlyMap<string, Execution>;
}

function indexOf(executions: readonly Execution[]): Index {
  const byVersion = new Map(executions.map((one) => [`${one.id} ${one.version}`, one]));
  return { byWrite: Map.groupBy(executions, ({ write }) => write), byVersion };
}

/** A member at a time, since an answer has members in any order. */
function differs(shown: State, { id, ordinal, version, note, size }: State): boolean {
  return (
    shown.id !== id ||
    shown.ordinal !== ordinal ||
    shown.version !== version ||
    shown.note !== note ||
    shown.size !== size
  );
}

const fillerFits = ({ size, filler = '' }: State & { filler?: string }) => filler === 'x'.repeat(size);

function faultsOfWrite(attempts: readonly Exchange[], done: readonly Execution[]): string[] {
  const faults: string[] = [];
  const bodies = new Set<string>();
  for (const attempt of attempts) {
    const { outcome } = attempt;
    if (outcome.kind !== 'answered') continue;
    if (isSuccess(attempt)) {
      bodies.add(`${outcome.status} ${outcome.body}`);
      const shown = JSON.parse(outcome.body) as State;
      if (done[0] === undefined) faults.push(`never done: ${told(attempt)}`);
      else if (differs(shown, done[0]) || !fillerFits(shown)) faults.push(`not the outcome: ${told(attempt)}`);
    } else if (attempt.key === undefined && errorOf(outcome.body)?.retryable === true && done.length > 0) {
      faults.push(`done, although it may be sent again: ${told(attempt)}`);
    }
  }
  if (bodies.size > 1) faults.push(`answered in ${bodies.size} ways: ${told(attempts[0] as Exchange)}`);
  return faults;
}

function faultOfGet({ outcome, entry, atLeast = 0, endedAt }: Exchange, { byVersion }: Index): string | undefined {
  if (outcome.kind !== 'answered') return undefined;
  const shown = JSON.parse(outcome.body) as State;
  const truth = byVersion.get(`${shown.id} ${shown.version}`);
  if (shown.id !== entry) return 'another entry';
  if (truth === undefined || differs(shown, truth) || !fillerFits(shown)) return 'never had this value';
  if (shown.version < atLeast) return `older than version ${atLeast}`;
  return truth.at > endedAt ? 'from the future' : undefined;
}

/** The latest entries without a gap, as each of them was at some time. */
function faultOfList({ outcome, organization, atLeast = 0 }: Exchange, { byVersion }: Index): string | undefined {
  if (outcome.kind !== 'answered') return undefined;
  const { data } = JSON.parse(outcome.body) as { data: State[] };
  const first = data[0]?.ordinal ?? 0;
  if (first < atLeast) return `without the entry ${atLeast}`;
  for (const [index, shown] of data.entries()) {
    const truth = byVersion.get(`${shown.id} ${shown.version}`);
    if (truth === undefined || truth.organization !== organization || differs(shown, truth))
      return 'with a value that it never had';
    if (shown.ordinal !== first - index) return 'with a gap';
  }
  return undefined;
}
