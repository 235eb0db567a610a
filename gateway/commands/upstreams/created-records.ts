// Removes the records that a trial has created, and names the records that it could not remove.

import type { ContractOperation } from '../../contract/operations/operations.ts';
import { templateParameters } from '../../contract/operations/routes.ts';
import { firstNames } from '../../shared/text.ts';
import { type Finding, ok, warn } from '../finding.ts';
import { countText } from '../print.ts';
import { type Backend, type BackendAnswer, type BackendRequest, statusOf } from './backend.ts';
import { isReading, isRefused } from './exercise.ts';
import { collectionOf } from './plan.ts';
import { createIdsOf } from './record-ids.ts';

const CHECK = 'records';
const NAMED_MAX = 10;

interface CreatedRecords {
  /** The same backend, which also notes the records that are created and removed. */
  readonly backend: Backend;
  /** Deletes the remaining records, the last record first. Returns findings about records that it could not delete. Never rejects. */
  remove(): Promise<Finding[]>;
}

interface CreatedRecord {
  /** The creation: `POST /v1/jobs`. */
  readonly entry: ContractOperation;
  /** Path values of its collection. */
  readonly pathValues: readonly string[];
  /** The id of the record; undefined if the answer does not contain it. */
  readonly id: string | undefined;
}

export function createCreatedRecords(backend: Backend, entries: readonly ContractOperation[]): CreatedRecords {
  const idsOf = createIdsOf(entries);
  const single = (method: string, collection: string) =>
    entries.find(({ operation }) => operation.method === method && collectionIn(operation.path) === collection);
  /** The records by collection and id. A repeated Idempotency-Key creates no second record. */
  const present = new Map<string, CreatedRecord>();
  const made = new Set<string>();
  let isShutOut = false;

  function note(answered: BackendAnswer): void {
    isShutOut ||= isRefused(answered);
    if (answered.problem !== undefined || statusOf(answered) >= 300) return;
    const { entry, pathValues } = answered.asked;
    const { method, path } = entry.operation;
    const hasSingles = entries.some(({ operation }) => collectionIn(operation.path) === path);
    if (method === 'POST' && hasSingles) {
      const [id] = idsOf(answered);
      const key = id === undefined ? `${path} ${made.size}` : keyOf(path, [...pathValues, id]);
      present.set(key, { entry, pathValues, id });
      made.add(key);
    } else if (method === 'DELETE') present.delete(keyOf(collectionIn(path) ?? path, pathValues));
  }

  async function send(asked: BackendRequest): Promise<BackendAnswer> {
    const answered = await backend.send(asked);
    if (!isReading(asked.method ?? asked.entry.operation.method)) note(answered);
    return answered;
  }

  async function removeOne({ entry, pathValues, id }: CreatedRecord): Promise<void> {
    const removal = single('DELETE', entry.operation.path);
    if (removal === undefined || id === undefined || isShutOut) return;
    const headers = new Map([['host', 'gateway.invalid']]);
    try {
      await send({ entry: removal, pathValues: [...pathValues, id], search: '', headers });
    } catch {
      // The record remains, and is named in a finding.
    }
  }

  return {
    backend: { ...backend, send },
    async remove() {
      for (const one of [...present.values()].reverse()) await removeOne(one);
      return findingsOf([...present.values()], made.size);
    },
  };
}

function findingsOf(left: readonly CreatedRecord[], made: number): Finding[] {
  if (made === 0) return [];
  if (left.length === 0) return [ok(CHECK, `The trial created ${countText(made, 'record')} and left none behind.`)];
  const names = left.map(({ entry, id }) => `${entry.operation.path}/${id ?? '(id not shown)'}`);
  const says = `The trial leaves ${countText(left.length, 'record')} behind: ${firstNames(names, NAMED_MAX)}.`;
  return [warn(CHECK, says, 'Delete by hand what you do not want to keep.')];
}

/** Returns the collection of a path that ends with a parameter. */
function collectionIn(path: string): string | undefined {
  const name = templateParameters(path).at(-1);
  return name !== undefined && path.endsWith(`/{${name}}`) ? collectionOf(path, name) : undefined;
}

/** Returns the key of a record. It ignores case, because ids may differ in case between request and path. */
function keyOf(collection: string, pathValues: readonly string[]): string {
  return JSON.stringify([collection, ...pathValues]).toLowerCase();
}
