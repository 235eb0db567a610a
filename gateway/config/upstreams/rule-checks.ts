// Checks the rules for requests and answers against the contracts. The rules name operations of the upstream, parameters of their paths,
// and records that are read before they are changed (`setAsItems`).

import { type Mistake, suggest } from '../../shared/mistakes.ts';
import type { Source } from '../../shared/yaml-source.ts';
import { byAnyNameIn, declaredId, type NamedOperation } from '../operation-names.ts';

/** The properties of an operation that rules can refer to. */
interface RuleOperation extends NamedOperation {
  /** The path template, `/api/principal/{name}`. */
  readonly path: string;
  readonly pathStyles: ReadonlyMap<string, string>;
}

interface Rule {
  readonly operations?: readonly string[] | undefined;
  readonly parameters: readonly string[];
  readonly rewritesPath: boolean;
  /** The places of the rule and of its operations in the file. */
  readonly place: readonly (string | number)[];
  readonly operationsPlace: readonly (string | number)[];
}

interface RequestRules {
  readonly requests: readonly {
    readonly operations: readonly string[];
    readonly path?: { readonly lowerCase: readonly string[] } | undefined;
  }[];
  readonly answers: readonly {
    readonly when: { readonly operations?: readonly string[] | undefined; readonly body?: unknown };
  }[];
}

/** Pushes a mistake for every operation or parameter that does not exist. */
export function checkRuleNames(
  upstreams: Readonly<Record<string, RequestRules>>,
  operations: readonly RuleOperation[],
  source: Source,
  mistakes: Mistake[],
): void {
  for (const [upstream, entry] of Object.entries(upstreams)) {
    const rules = rulesOf(upstream, entry);
    if (rules.length === 0) continue;
    const own = byAnyNameIn(upstream, operations);
    for (const rule of rules) {
      for (const [index, id] of (rule.operations ?? []).entries()) {
        if (own.has(id)) continue;
        const reason = `"${upstream}" has no operation "${id}".`;
        mistakes.push(
          source.mistakeAt(
            [...rule.operationsPlace, index],
            reason,
            suggest(id, new Set([...own.values()].map(declaredId))),
          ),
        );
      }
      const meant =
        rule.operations === undefined ? [...own.values()] : rule.operations.flatMap((id) => own.get(id) ?? []);
      const known = new Set(meant.flatMap(({ path }) => parametersIn(path)));
      for (const name of rule.parameters) {
        if (known.has(name) || meant.length === 0) continue;
        const reason = `none of these operations has a parameter "${name}" in its path.`;
        mistakes.push(source.mistakeAt(rule.place, reason, suggest(name, known)));
      }
      const styled = rule.rewritesPath ? meant.find(({ pathStyles }) => pathStyles.size > 0) : undefined;
      if (styled === undefined) continue;
      const reason = `a path with lists or objects cannot be rewritten, and ${declaredId(styled)} has one.`;
      mistakes.push(source.mistakeAt(rule.place, reason, 'Leave this operation out of the rule, or remove path.'));
    }
  }
}

function rulesOf(upstream: string, { requests, answers }: RequestRules): Rule[] {
  const ofRequests = requests.map(({ operations, path }, index) => {
    const place = ['upstreams', upstream, 'requests', index];
    return {
      operations,
      parameters: path?.lowerCase ?? [],
      rewritesPath: path !== undefined,
      place,
      operationsPlace: [...place, 'operations'],
    };
  });
  const ofAnswers = answers.map(({ when }, index) => {
    const place = ['upstreams', upstream, 'answers', index];
    const operationsPlace = [...place, 'when', 'operations'];
    const parameters = bodyParameters(when.body);
    return { operations: when.operations, parameters, rewritesPath: false, place, operationsPlace };
  });
  return [...ofRequests, ...ofAnswers];
}

/** Returns the parameters that a body condition refers to by `{ path: <parameter> }`. */
function bodyParameters(body: unknown): string[] {
  if (typeof body !== 'object' || body === null) return [];
  return Object.values(body).flatMap((matcher: unknown) => {
    const named = (matcher as { readonly path?: unknown } | null)?.path;
    return typeof named === 'string' ? [named] : [];
  });
}

function parametersIn(template: string): string[] {
  return [...template.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name as string);
}

interface RecordOperation extends NamedOperation {
  readonly method: string;
  readonly path: string;
  readonly upstreamPrefix: string;
  readonly body: 'buffer' | 'stream';
}

export interface WithRecordRules {
  readonly requests: readonly {
    readonly operations: readonly string[];
    readonly setAsItems?: { readonly read: string } | undefined;
  }[];
}

/** Pushes a mistake for every rule that could not read the record, and for every operation with two such rules. */
export function checkRecordRules(
  upstreams: Readonly<Record<string, WithRecordRules>>,
  operations: readonly RecordOperation[],
  source: Source,
  mistakes: Mistake[],
): void {
  for (const [upstream, { requests }] of Object.entries(upstreams)) {
    const named = new Set<RecordOperation>();
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

function readingProblem(upstream: string, name: string, reading: RecordOperation | undefined): string | undefined {
  if (reading === undefined) return `"${upstream}" has no operation "${name}".`;
  return reading.method === 'GET' ? undefined : `"${name}" is a ${reading.method}, which may change the record.`;
}

function changingProblem(
  changing: RecordOperation,
  reading: RecordOperation | undefined,
  isNamed: boolean,
): string | undefined {
  const name = declaredId(changing);
  if (isNamed) return `an earlier rule has setAsItems for ${name}.`;
  if (changing.body === 'stream') return `the body of ${name} is streamed, so its changes cannot be read.`;
  if (reading === undefined) return undefined;
  const isSame = (['path', 'upstream', 'upstreamPrefix'] as const).every((key) => changing[key] === reading[key]);
  return isSame ? undefined : `${declaredId(reading)} has another path than ${name}, so it reads another record.`;
}
