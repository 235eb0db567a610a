// Pure: spreads the time of a V8 CPU profile over stages, files and functions, and the bytes of a heap profile in the same way.

import { stageOf } from './stages.ts';

/** The used part of a .cpuprofile file; times are microseconds of the system's monotonic clock. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

/** Of microseconds or bytes, by name, the greatest first. */
export interface Attribution {
  readonly stages: readonly Share[];
  readonly files: readonly Share[];
  /** With the stage: `writev` in one is not `writev` in another. */
  readonly functions: readonly Share[];
  /** By the innermost function of the gateway on the stack: calls of libraries and of the system are its own. */
  readonly callers: readonly Share[];
  readonly total: number;
}

export interface Share {
  readonly name: string;
  readonly amount: number;
}

/** The used part of a profile of `HeapProfiler` in the Chrome DevTools Protocol. */
export interface HeapProfile {
  readonly head: HeapProfileNode;
}

export interface HeapProfileNode extends Omit<ProfileNode, 'children'> {
  /** Bytes. */
  readonly selfSize: number;
  readonly children: readonly HeapProfileNode[];
}

export interface Span {
  readonly fromMicros: number;
  readonly toMicros: number;
}

/** V8's name for idle time. */
const IDLE = '(idle)';

/**
 * Time counts for the function it was spent in, and for the stage of the innermost gateway file on the stack: library calls of a stage are
 * its own.
 */
export function attribute(profile: CpuProfile, root: string, { fromMicros, toMicros }: Span): Attribution {
  const amounts = new Map<number, number>();
  let at = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    const micros = profile.timeDeltas[index] as number;
    at += micros;
    if (at >= fromMicros && at <= toMicros) amounts.set(id, (amounts.get(id) ?? 0) + micros);
  }
  return spread(profile.nodes, root, amounts);
}

/** The bytes that functions have allocated, whether or not they still live. */
export function attributeBytes({ head }: HeapProfile, root: string): Attribution {
  const nodes: ProfileNode[] = [];
  const amounts = new Map<number, number>();
  for (const rest = [head]; rest.length > 0; ) {
    const { id, callFrame, selfSize, children } = rest.pop() as HeapProfileNode;
    nodes.push({ id, callFrame, children: children.map((child) => child.id) });
    if (selfSize > 0) amounts.set(id, selfSize);
    rest.push(...children);
  }
  return spread(nodes, root, amounts);
}

/** @param amounts by the id of a node, of what happened in its function itself */
function spread(nodes: readonly ProfileNode[], root: string, amounts: ReadonlyMap<number, number>): Attribution {
  const places = placesOf(nodes, root);
  const spent = [...amounts]
    .map(([id, amount]): Spent => ({ place: places.get(id) as Place, amount }))
    .filter(({ place }) => place.function !== IDLE);
  return {
    stages: sharesOf(spent, ({ stage }) => stage),
    files: sharesOf(spent, ({ file }) => file),
    functions: sharesOf(spent, (place) => `${place.stage}: ${place.function}`),
    callers: sharesOf(spent, ({ stage, caller }) => (caller === undefined ? stage : `${stage}: ${caller}`)),
    total: spent.reduce((sum, { amount }) => sum + amount, 0),
  };
}

interface Spent {
  readonly place: Place;
  readonly amount: number;
}

interface Place {
  readonly stage: string;
  readonly file: string;
  readonly function: string;
  /** Undefined: no function of the gateway is on the stack. */
  readonly caller: string | undefined;
}

function placesOf(nodes: readonly ProfileNode[], root: string): Map<number, Place> {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const places = new Map<number, Place>();
  for (const node of nodes) {
    const stack: Frame[] = [];
    for (let at: ProfileNode | undefined = node; at !== undefined; at = byId.get(parents.get(at.id) ?? -1)) {
      stack.push(frameOf(at.callFrame, root));
    }
    const { file, name } = stack[0] as Frame;
    const known = stack.filter((frame) => frame.file !== '');
    const own = known.find((frame) => frame.file.startsWith('gateway/'));
    const library = known.find((frame) => frame.file.startsWith('node_modules/'));
    places.set(node.id, {
      stage: stageOf((own ?? library ?? known[0])?.file ?? name),
      file: file === '' ? name : file,
      function: name,
      caller: own?.name,
    });
  }
  return places;
}

interface Frame {
  readonly file: string;
  /** With its place, if it has one. */
  readonly name: string;
}

function frameOf({ functionName, url, lineNumber }: ProfileNode['callFrame'], root: string): Frame {
  const file = fileOf(url, root);
  const name = functionName === '' ? '(anonymous)' : functionName;
  return { file, name: file === '' ? name : `${name} ${file}:${lineNumber + 1}` };
}

/** Relative to the repository; empty for functions without a source, such as compiled validators and the engine itself. */
function fileOf(url: string, root: string): string {
  const [, inModules] = /\/(node_modules\/.*)$/.exec(url) ?? [];
  return inModules ?? (url.startsWith(root) ? url.slice(root.length) : url);
}

function sharesOf(spent: readonly Spent[], nameOf: (place: Place) => string): Share[] {
  const sums = new Map<string, number>();
  for (const { place, amount } of spent) sums.set(nameOf(place), (sums.get(nameOf(place)) ?? 0) + amount);
  return [...sums].map(([name, amount]) => ({ name, amount })).sort((one, other) => other.amount - one.amount);
}
