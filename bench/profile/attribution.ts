// Pure: spreads the time of a V8 CPU profile over stages, files and functions.

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

export interface Attribution {
  /** Microseconds by name, the greatest first. */
  readonly stages: readonly Share[];
  readonly files: readonly Share[];
  /** With the stage: `writev` in one is not `writev` in another. */
  readonly functions: readonly Share[];
  readonly totalMicros: number;
}

export interface Share {
  readonly name: string;
  readonly micros: number;
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
  const places = placesOf(profile.nodes, root);
  const stages = new Map<string, number>();
  const files = new Map<string, number>();
  const functions = new Map<string, number>();
  let totalMicros = 0;
  let at = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    const micros = profile.timeDeltas[index] as number;
    at += micros;
    const place = places.get(id) as Place;
    if (at < fromMicros || at > toMicros || place.function === IDLE) continue;
    add(stages, place.stage, micros);
    add(files, place.file, micros);
    add(functions, `${place.stage}: ${place.function}`, micros);
    totalMicros += micros;
  }
  return { stages: sharesOf(stages), files: sharesOf(files), functions: sharesOf(functions), totalMicros };
}

interface Place {
  readonly stage: string;
  readonly file: string;
  readonly function: string;
}

function placesOf(nodes: readonly ProfileNode[], root: string): Map<number, Place> {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const places = new Map<number, Place>();
  for (const node of nodes) {
    const { functionName, url, lineNumber } = node.callFrame;
    const file = fileOf(url, root);
    const name = functionName === '' ? '(anonymous)' : functionName;
    const stack: string[] = [];
    for (let at: ProfileNode | undefined = node; at !== undefined; at = byId.get(parents.get(at.id) ?? -1)) {
      stack.push(fileOf(at.callFrame.url, root));
    }
    const known = stack.filter((frame) => frame !== '');
    const own = known.find((frame) => frame.startsWith('gateway/'));
    const library = known.find((frame) => frame.startsWith('node_modules/'));
    places.set(node.id, {
      stage: stageOf(own ?? library ?? known[0] ?? name),
      file: file === '' ? name : file,
      function: file === '' ? name : `${name} ${file}:${lineNumber + 1}`,
    });
  }
  return places;
}

/** Relative to the repository; empty for functions without a source, such as compiled validators and the engine itself. */
function fileOf(url: string, root: string): string {
  const [, inModules] = /\/(node_modules\/.*)$/.exec(url) ?? [];
  return inModules ?? (url.startsWith(root) ? url.slice(root.length) : url);
}

function add(sums: Map<string, number>, name: string, micros: number): void {
  sums.set(name, (sums.get(name) ?? 0) + micros);
}

function sharesOf(sums: ReadonlyMap<string, number>): Share[] {
  return [...sums].map(([name, micros]) => ({ name, micros })).sort((a, b) => b.micros - a.micros);
}
