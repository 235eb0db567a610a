// Resolves the names of operations in configuration files. A file may use the id of an operation, or the qualified name
// `entry.operationId`. Names are resolved when the contracts are loaded, so a request needs only one look-up.

import { entryOfUpstream } from '../shared/contracts/upstreams.ts';
import type { Mistake } from '../shared/mistakes.ts';
import type { Source } from '../shared/yaml-source.ts';
import type { WithRecordRules } from './upstreams/rule-checks.ts';

/** The names of an operation. */
export interface NamedOperation {
  /** Unique. */
  readonly id: string;
  /** The name `entry.operationId`. It equals `id` where the entry says `operationNames: qualified`. */
  readonly qualifiedId: string;
  /** The entry of upstreams.yaml that lists the operation's contract, and the upstream that its requests are sent to. */
  readonly entry: string;
  readonly upstream: string;
}

/** Returns the `operationId` in the contract. */
export function declaredId({ qualifiedId, entry }: NamedOperation): string {
  return qualifiedId.slice(entry.length + 1);
}

/** Returns operations by all their names, first by ids, then by qualified names. */
export function byAnyName<Operation extends NamedOperation>(
  operations: readonly Operation[],
): ReadonlyMap<string, Operation> {
  const qualified = operations.map((operation) => [operation.qualifiedId, operation] as const);
  return new Map([...qualified, ...operations.map((operation) => [operation.id, operation] as const)]);
}

/**
 * Returns the same for the rules of one upstream. There, a name of the contract is unique unless two entries send operations of the same
 * name to the upstream.
 */
export function byAnyNameIn<Operation extends NamedOperation>(
  upstream: string,
  operations: readonly Operation[],
): ReadonlyMap<string, Operation> {
  const own = operations.filter((operation) => entryOfUpstream(operation.upstream) === upstream);
  const declared = Map.groupBy(own, declaredId);
  const clear = [...declared].flatMap(([name, all]) =>
    all.length === 1 ? [[name, all[0] as Operation] as const] : [],
  );
  return new Map([...clear, ...byAnyName(own)]);
}

/** The parts of a configuration that name operations. */
interface OperationReferences {
  readonly gateway:
    | { readonly operations: Readonly<Record<string, { readonly successor?: string | undefined }>> }
    | undefined;
  readonly limits: { readonly operations: Readonly<Record<string, unknown>> } | undefined;
  readonly breaking: readonly { readonly operation: string }[] | undefined;
  readonly upstreams: Readonly<Record<string, OperationRules>>;
}

interface OperationRules extends WithRecordRules {
  readonly answers: readonly { readonly when: { readonly operations?: readonly string[] | undefined } }[];
}

/** Returns the parts with ids instead of other names. Names without an operation stay unchanged, because another check reports them. */
export function withOperationIds<References extends OperationReferences>(
  { gateway, limits, breaking, upstreams, ...others }: References,
  operations: readonly NamedOperation[],
): References {
  const known = byAnyName(operations);
  const idOf = (name: string) => known.get(name)?.id ?? name;
  const rulesOf = ([upstream, entry]: [string, OperationRules]) => {
    if (entry.requests.length === 0 && entry.answers.length === 0) return [upstream, entry];
    const own = byAnyNameIn(upstream, operations);
    const ownIdOf = (name: string) => own.get(name)?.id ?? name;
    const idsOf = (names: readonly string[]) => names.map(ownIdOf);
    const requests = entry.requests.map(({ setAsItems, ...rule }) => ({
      ...rule,
      operations: idsOf(rule.operations),
      ...(setAsItems && { setAsItems: { ...setAsItems, read: ownIdOf(setAsItems.read) } }),
    }));
    const answers = entry.answers.map(({ when, ...rule }) =>
      when.operations === undefined
        ? { ...rule, when }
        : { ...rule, when: { ...when, operations: idsOf(when.operations) } },
    );
    return [upstream, { ...entry, requests, answers }];
  };
  const dates = Object.entries(gateway?.operations ?? {}).map(([name, { successor, ...entry }]) => [
    idOf(name),
    successor === undefined ? entry : { ...entry, successor: idOf(successor) },
  ]);
  const ofLimits = Object.entries(limits?.operations ?? {}).map(([name, entry]) => [idOf(name), entry]);
  return {
    ...others,
    gateway: gateway && { ...gateway, operations: Object.fromEntries(dates) },
    limits: limits && { ...limits, operations: Object.fromEntries(ofLimits) },
    breaking: breaking?.map((one) => ({ ...one, operation: idOf(one.operation) })),
    upstreams: Object.fromEntries(Object.entries(upstreams).map(rulesOf)),
  } as unknown as References;
}

/** Refuses two names of one operation under `operations` of a file, because the settings of one name would be lost. */
export function checkNamedOnce(
  names: readonly string[],
  operations: readonly NamedOperation[],
  source: Source,
  mistakes: Mistake[],
): void {
  const known = byAnyName(operations);
  const first = new Map<string, string>();
  for (const name of names) {
    const id = known.get(name)?.id ?? name;
    const other = first.get(id);
    if (other === undefined) first.set(id, name);
    else {
      const reason = `"${name}" and "${other}" name the same operation.`;
      mistakes.push(source.mistakeAtKey(['operations', name], reason, 'Keep one of the two.'));
    }
  }
}
