// Checks rules for requests that read a record before they change it (`setAsItems`) against the contracts: the reading operation, and the
// operations that it reads for.

import { type Mistake, suggest } from '../shared/mistakes.ts';
import type { Source } from '../shared/yaml-source.ts';
import { byAnyNameIn, declaredId, type NamedOperation } from './operation-names.ts';

interface Recorded extends NamedOperation {
  readonly method: string;
  readonly path: string;
  readonly upstreamPrefix: string;
  readonly body: 'buffer' | 'stream';
}

interface WithRecordRules {
  readonly requests: readonly {
    readonly operations: readonly string[];
    readonly setAsItems?: { readonly read: string } | undefined;
  }[];
}

/** Pushes a mistake for every rule that could not read the record, and for every operation with two such rules. */
export function checkRecordRules(
  upstreams: Readonly<Record<string, WithRecordRules>>,
  operations: readonly Recorded[],
  source: Source,
  mistakes: Mistake[],
): void {
  for (const [upstream, { requests }] of Object.entries(upstreams)) {
    const named = new Set<Recorded>();
    for (const [index, { operations: ids, setAsItems }] of requests.entries()) {
      if (setAsItems === undefined) continue;
      const own = byAnyNameIn(upstream, operations);
      const place = ['upstreams', upstream, 'requests', index];
      const reading = own.get(setAsItems.read);
      const problem = readingProblem(upstream, setAsItems.read, reading);
      if (problem !== undefined) {
        const known = [...own.values()].filter(({ method }) => method === 'GET').map(declaredId);
        const remedy = suggest(setAsItems.read, new Set(known));
        mistakes.push(source.mistakeAt([...place, 'setAsItems', 'read'], problem, remedy));
      }
      for (const [position, id] of ids.entries()) {
        const changing = own.get(id);
        if (changing === undefined) continue;
        const fault = changingProblem(changing, reading, named.has(changing));
        if (fault !== undefined)
          mistakes.push(source.mistakeAt([...place, 'operations', position], fault, 'Leave it out of this rule.'));
        named.add(changing);
      }
    }
  }
}

function readingProblem(upstream: string, name: string, reading: Recorded | undefined): string | undefined {
  if (reading === undefined) return `"${upstream}" has no operation "${name}".`;
  return reading.method === 'GET' ? undefined : `"${name}" is a ${reading.method}, which may change the record.`;
}

function changingProblem(changing: Recorded, reading: Recorded | undefined, isNamed: boolean): string | undefined {
  const name = declaredId(changing);
  if (isNamed) return `an earlier rule has setAsItems for ${name}.`;
  if (changing.body === 'stream') return `the body of ${name} is streamed, so its changes cannot be read.`;
  if (reading === undefined) return undefined;
  const isSame = (['path', 'upstream', 'upstreamPrefix'] as const).every((key) => changing[key] === reading[key]);
  return isSame ? undefined : `${declaredId(reading)} has another path than ${name}, so it reads another record.`;
}
