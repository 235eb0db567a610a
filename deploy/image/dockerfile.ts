// Reads the image from the Dockerfile: as much of its language as this one uses. Anything else is an error, never passed over.

import { matchesGlob } from 'node:path';

/** One `COPY`, in the order of the file. */
interface Copy {
  /** The stage it takes from; undefined: the build context. */
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly target: string;
}

/** One `FROM` and the lines after it. */
export interface Stage {
  readonly name: string | undefined;
  readonly base: string;
  readonly workDirectory: string;
  readonly copies: readonly Copy[];
  readonly runs: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly user: string | undefined;
  readonly volumes: readonly string[];
  readonly ports: readonly number[];
  readonly healthCheck: readonly string[];
  readonly command: readonly string[];
}

type Draft = { -readonly [Member in keyof Stage]: Stage[Member] };

/** The stages of a Dockerfile; the last one is the image. Throws for an instruction that is not understood. */
export function parseDockerfile(text: string): readonly Stage[] {
  const stages: Draft[] = [];
  for (const line of text.replace(/\\\n/g, ' ').split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, instruction = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (instruction === 'FROM') stages.push(newStage(rest));
    else take(stages.at(-1), instruction, rest, line);
  }
  return stages;
}

function newStage(rest: string): Draft {
  const [base = '', , name] = rest.split(/\s+/);
  const lists = { copies: [], runs: [], volumes: [], ports: [], healthCheck: [], command: [] };
  return { name, base, workDirectory: '/', environment: {}, user: undefined, ...lists };
}

function take(stage: Draft | undefined, instruction: string, rest: string, line: string): void {
  if (stage === undefined) throw new Error(`Before the first FROM: ${line}`);
  if (instruction === 'WORKDIR') stage.workDirectory = rest;
  else if (instruction === 'COPY') stage.copies = [...stage.copies, parseCopy(rest)];
  else if (instruction === 'RUN') stage.runs = [...stage.runs, rest];
  else if (instruction === 'ENV') stage.environment = { ...stage.environment, ...parseVariables(rest) };
  else if (instruction === 'USER') stage.user = rest;
  else if (instruction === 'VOLUME') stage.volumes = [...stage.volumes, rest];
  else if (instruction === 'EXPOSE') stage.ports = rest.split(/\s+/).map(Number);
  else if (instruction === 'HEALTHCHECK') stage.healthCheck = parseList(rest.replace(/^(--\S+\s+)*CMD\s+/, ''));
  else if (instruction === 'CMD') stage.command = parseList(rest);
  else throw new Error(`Not understood: ${line}`);
}

function parseCopy(rest: string): Copy {
  const words = rest.split(/\s+/);
  const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined;
  const target = words.pop() ?? '';
  return { from, sources: words, target };
}

function parseVariables(rest: string): Record<string, string> {
  return Object.fromEntries(rest.split(/\s+/).map((word) => word.split('=') as [string, string]));
}

/** The exec form only: with the other one a shell is process 1, and SIGTERM ends there. */
function parseList(text: string): string[] {
  const list: unknown = text.startsWith('[') ? JSON.parse(text) : undefined;
  if (!Array.isArray(list)) throw new Error(`This is not in the exec form, as ["bin/gateway", "start"]: ${text}`);
  return list.map(String);
}

/**
 * Whether a path of the build context is kept out by `.dockerignore`: the last pattern that matches it, or a folder it is in, decides.
 */
export function createIgnored(text: string): (path: string) => boolean {
  const lines = text.split('\n').map((line) => line.trim());
  const patterns = lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ keeps: line.startsWith('!'), glob: line.replace(/^!/, '').replace(/\/$/, '') }));
  return (path) => {
    const steps = path.split('/');
    const within = steps.map((_, at) => steps.slice(0, at + 1).join('/'));
    const last = patterns.findLast(({ glob }) => within.some((part) => matchesGlob(part, glob)));
    return last !== undefined && !last.keeps;
  };
}
