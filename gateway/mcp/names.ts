// Makes the names of tools, which have at most 64 characters of A-Z, a-z, 0-9, `_`, `.` and `-`, and are unique. Wherever possible, a name
// is made only from its operation, so that it does not change when other operations are added or removed.

import { createHash } from 'node:crypto';

const NAME_MAX = 64;
const DIGEST_CHARACTERS = 8;

/** The three tools that stand for all others in mode `search`. */
export const SEARCH_TOOLS = ['search_operations', 'describe_operation', 'call_operation'] as const;

interface NamedTool {
  /** Unique among operations. */
  readonly id: string;
  /** The name that the contract asks for. */
  readonly wanted: string | undefined;
}

/** Returns the names, in the order of the operations. A name is undefined if the contract asks for the name of another operation. */
export function namesOf(operations: readonly NamedTool[]): (string | undefined)[] {
  const wanted = new Map<string, number>();
  for (const { wanted: name } of operations) if (name !== undefined) wanted.set(name, (wanted.get(name) ?? 0) + 1);
  const derived = new Map<string, number>();
  for (const { id, wanted: name } of operations) {
    if (name === undefined) derived.set(plainName(id), (derived.get(plainName(id)) ?? 0) + 1);
  }
  const isTaken = (name: string) => SEARCH_TOOLS.some((one) => one === name);
  return operations.map(({ id, wanted: name }) => {
    if (name !== undefined) return (wanted.get(name) ?? 0) > 1 || isTaken(name) ? undefined : name;
    const plain = plainName(id);
    const isUnique = derived.get(plain) === 1 && !wanted.has(plain) && !isTaken(plain);
    return isUnique && plain.length <= NAME_MAX ? plain : withDigest(plain, id);
  });
}

/** Returns a name without dots, because some interfaces of models refuse them. */
function plainName(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]+/g, '_').replace(/^_+|_+$/g, '') || 'operation';
}

function withDigest(name: string, id: string): string {
  const digest = createHash('sha256').update(id).digest('hex').slice(0, DIGEST_CHARACTERS);
  return `${name.slice(0, NAME_MAX - DIGEST_CHARACTERS - 1)}_${digest}`;
}
