// Tries the operations of an upstream in an order that provides ids, with lists first, then creation, then single records. Changes and
// removes only records that it created.

import type { UpstreamEntry } from '../../config/upstreams/upstreams-file.ts';
import type { ContractOperation } from '../../contract/operations/operations.ts';
import { templateParameters } from '../../contract/operations/routes.ts';
import type { Schemas } from '../../contract/schemas/schemas.ts';
import { isLoginRefusal } from '../../shared/http/words.ts';
import type { Backend, BackendAnswer, BackendRequest } from './backend.ts';
import { collectionOf, requestsFor } from './plan.ts';
import { createIdsOf } from './record-ids.ts';
import { ANY_KIND, kindAt, SENT_KIND } from './wanted-credential.ts';

export interface ExerciseResult {
  readonly answers: readonly BackendAnswer[];
  /** Operations without a request, with the reason. */
  readonly untried: readonly { readonly entry: ContractOperation; readonly why: string }[];
  /** Collection → ids of existing records. */
  readonly ids: ReadonlyMap<string, readonly string[]>;
  /** Whether the service refuses the credential that the gateway sends, or answers nothing. */
  readonly isStopped: boolean;
}

interface ExerciseOptions {
  readonly backend: Backend;
  readonly settings: UpstreamEntry;
  readonly entries: readonly ContractOperation[];
  readonly schemas: Schemas;
  readonly writes: boolean;
  /** Maximum number of requests for all operations together. */
  readonly requestsMax: number;
}

const METHOD_RANKS: Readonly<Record<string, number>> = { GET: 1, POST: 0, PUT: 3, PATCH: 2, DELETE: 4 };

/**
 * Tries the operations. Ends early if the upstream refuses the credential, because it may block a client that continues to send the
 * credential. An operation for which the document asks for another credential is refused alone, with those of its kind. Also ends early if
 * the first request gets no answer in time, because each other request would wait as long.
 */
export async function exercise({
  backend,
  settings,
  entries,
  schemas,
  writes,
  requestsMax,
}: ExerciseOptions): Promise<ExerciseResult> {
  const answers: BackendAnswer[] = [];
  const untried: { entry: ContractOperation; why: string }[] = [];
  const existing = new Map<string, string[]>();
  const created = new Map<string, string[]>();
  const idsOf = createIdsOf(entries);
  const refused = new Set<string>();
  const each = Math.max(1, Math.floor(requestsMax / Math.max(1, entries.length)));

  for (const entry of [...entries].sort((one, other) => rankOf(one) - rankOf(other))) {
    const { method, path } = entry.operation;
    const kind = kindAt(settings, entry);
    const why = refused.has(kind) ? 'the service refuses the gateway there' : whyNot(entry, writes, created);
    // Each created record can be removed once.
    const planned = why === undefined ? requestsFor(entry, schemas, isReading(method) ? existing : created) : [];
    if (planned.length === 0) {
      untried.push({ entry, why: why ?? 'no valid request could be made up' });
      continue;
    }
    for (const asked of planned.slice(0, method === 'DELETE' ? 1 : each)) {
      if (answers.length >= requestsMax) break;
      const answered = await backend.send(withKey(asked, answers.length));
      answers.push(answered);
      const isOwn = kind === SENT_KIND || (kind === ANY_KIND && settings.credential !== undefined);
      if (isSilent(answers) || (isRefused(answered) && isOwn))
        return { answers, untried, ids: existing, isStopped: true };
      if (isRefused(answered)) {
        refused.add(kind);
        break;
      }
      if (templateParameters(path).length > 0 && method !== 'POST') continue;
      const found = idsOf(answered);
      existing.set(path, [...(existing.get(path) ?? []), ...found]);
      if (method === 'POST') created.set(path, [...(created.get(path) ?? []), ...found]);
    }
  }
  return { answers, untried, ids: existing, isStopped: false };
}

export function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Whether the upstream refuses the gateway's credential or assertion. */
export function isRefused({ status, judgement }: BackendAnswer): boolean {
  return judgement?.kind === 'credential' || (judgement === undefined && isLoginRefusal(status));
}

/** Whether the upstream has answered no request in time. */
export function isSilent(answers: readonly BackendAnswer[]): boolean {
  return answers.length > 0 && answers.every(({ isLate }) => isLate === true);
}

/** Lists first, then creation, then the other operations. */
function rankOf({ operation }: ContractOperation): number {
  const isList = operation.method === 'GET' && !operation.path.includes('{');
  return isList ? -1 : (METHOD_RANKS[operation.method] ?? 5);
}

function whyNot(
  { operation }: ContractOperation,
  writes: boolean,
  created: ReadonlyMap<string, readonly string[]>,
): string | undefined {
  if (isReading(operation.method)) return undefined;
  if (!writes) return 'writes need --writes, or a test target';
  const name = templateParameters(operation.path).at(-1);
  if (operation.method === 'POST' && name === undefined) return undefined;
  const isOwn = name !== undefined && (created.get(collectionOf(operation.path, name)) ?? []).length > 0;
  return isOwn ? undefined : 'nothing was created here that could be changed';
}

/** Adds an Idempotency-Key if the operation takes one. */
function withKey(asked: BackendRequest, number: number): BackendRequest {
  if (asked.entry.operation.idempotency === 'off') return asked;
  const key = `try-${process.pid}-${Date.now().toString(36)}-${number}`;
  return { ...asked, headers: new Map(asked.headers).set('idempotency-key', key) };
}
