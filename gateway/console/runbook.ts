// Returns sections of the documents for the console, which describe the steps after an alert, and the setup of alerts. Placeholders of a
// section are replaced by current facts: names in commands, the place in the configuration, and the reason of the latest refusal. If no
// cause leads to the section, the placeholders stay.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cause } from '../shared/contracts/cause.ts';
import { codesOfRunbook } from '../shared/failed-requests.ts';
import type { ExchangeFilter, ExchangeLine } from '../shared/questions/exchange-filter.ts';
import { readSource } from '../shared/yaml-source.ts';

interface RunbookFacts {
  /** The values for places such as `<upstream>` in commands; for `redis` these are the options of `redis-cli`. */
  readonly names: Readonly<Partial<Record<'upstream' | 'mode' | 'organization' | 'instance' | 'redis', string>>>;
  /** The file and the line of the upstream's entry. */
  readonly place?: string | undefined;
  /** The cause in the log line of the latest request that was refused for this reason. */
  readonly reason?: string | undefined;
}

interface RunbookSources {
  readonly configDirectory: string;
  /** The options with which `redis-cli` reaches the data of the gateway. */
  readonly redisOptions?: string | undefined;
  causes(): Promise<readonly Cause[]>;
  recent(filter: ExchangeFilter): Promise<readonly ExchangeLine[]>;
}

/** Names that need no quotes in a shell. */
const PLAIN = /^[\w.@:[\]/-]+$/;

export async function runbookFacts(title: string, sources: RunbookSources): Promise<RunbookFacts> {
  const causes = (await sources.causes()).filter(({ runbook }) => runbook === title);
  const [named] = namesIn(causes, 'upstreams');
  const organizations = namesIn(causes, 'organizations');
  // If there are several organizations, the command would name one of them, and might be run for the wrong organization.
  const organization = organizations.length === 1 ? organizations[0] : undefined;
  const lines = await Promise.all(
    codesOfRunbook(title).map((code) => sources.recent({ code, upstream: named, limit: 1 })),
  );
  const [latest] = lines.flat().sort((one, other) => Number(other.time) - Number(one.time));
  const mode = causes.map(({ id }) => /^upstream \S+ (live|test)$/.exec(id)?.[1]).find((one) => one !== undefined);
  const redis = sources.redisOptions;
  const instances = new Set(causes.flatMap((cause) => cause.instances ?? []));
  const [instance] = instances.size === 1 ? instances : [];
  return {
    names: {
      ...(named !== undefined && PLAIN.test(named) && { upstream: named }),
      ...(mode !== undefined && { mode }),
      ...(organization !== undefined && PLAIN.test(organization) && { organization }),
      ...(instance !== undefined && PLAIN.test(instance) && { instance }),
      ...(redis !== undefined && { redis }),
    },
    place: named === undefined ? undefined : placeOf(named, sources.configDirectory),
    reason: reasonIn(latest),
  };
}

/** Returns the names of the subjects of the causes, each once. */
function namesIn(causes: readonly Cause[], kind: 'upstreams' | 'organizations'): string[] {
  const page = `#/${kind}/`;
  const pages = causes.map(({ details = '' }) => details).filter((details) => details.startsWith(page));
  return [...new Set(pages.map((details) => decodeURIComponent(details.slice(page.length))))];
}

/** Returns the first line, because the stack of an error follows it. */
function reasonIn(line: ExchangeLine | undefined): string | undefined {
  if (typeof line?.cause !== 'string') return undefined;
  return line.cause.split('\n')[0]?.replaceAll('`', "'");
}

function placeOf(upstream: string, directory: string): string | undefined {
  const file = join(directory, 'upstreams.yaml');
  const { line } = readSource(file, []).mistakeAtKey(['upstreams', upstream], '', '');
  return line === undefined ? undefined : `${file}:${line}`;
}

/** Returns the text of a runbook with its places filled in. A command with an open place contains `…`, and cannot be copied. */
export function filledIn(text: string, { names, place, reason }: RunbookFacts): string {
  const named = text.replace(/`[^`]*`/g, (code) =>
    code.replace(
      /<(upstream|mode|organization|instance|redis)>/g,
      (_, name: keyof RunbookFacts['names']) => names[name] ?? '…',
    ),
  );
  const placed = place === undefined ? named : named.replace(/`[^`]*upstreams\.yaml`/g, `\`${place}\``);
  return reason === undefined
    ? placed
    : placed.replace(/^- Look: (.)/m, (_, first: string) => {
        return `- Look: the log says of the latest request that was refused: \`${reason}\`. ${first.toUpperCase()}`;
      });
}

interface RunbookSection {
  readonly title: string;
  /** Markdown without the heading. */
  readonly text: string;
}

const PAGES = ['alerts', 'operations'].map((name) => new URL(`../../docs/${name}.md`, import.meta.url));

let pages: Promise<ReadonlyMap<string, RunbookSection>> | undefined;

/** Reads the files once. */
function readPages(): Promise<ReadonlyMap<string, RunbookSection>> {
  pages ??= Promise.all(PAGES.map((page) => readFile(page, 'utf8').catch(() => ''))).then((texts) =>
    sectionsOf(texts.join('\n')),
  );
  return pages;
}

/**
 * Returns the section with a title, or with its anchor; undefined for an unknown section, and if its file is not installed.
 *
 * @param directory the directory of the configuration, which replaces `config/` of the page
 */
export async function runbookSection(title: string, directory: string): Promise<RunbookSection | undefined> {
  const section = (await readPages()).get(anchorOf(title));
  return (
    section && {
      ...section,
      text: section.text.replace(/`(?:config\/)?(\w+\.yaml)`/g, (_, file) => `\`${join(directory, file)}\``),
    }
  );
}

/** Returns the title and the first sentence of each section about a cause, in the order of the page. */
export async function runbookIndex(): Promise<{ readonly title: string; readonly begin: string }[]> {
  const sections = [...(await readPages()).values()].filter(({ text }) => /^- (?:Look|Do): /m.test(text));
  return sections.map(({ title, text }) => ({ title, begin: /^[^\n]*?[.](?= |\n|$)/.exec(text)?.[0] ?? '' }));
}

function sectionsOf(page: string): ReadonlyMap<string, RunbookSection> {
  const sections = page.split(/^#+ /m).slice(1);
  return new Map(
    sections.map((section) => {
      const end = section.indexOf('\n');
      const title = section.slice(0, end).trim();
      return [anchorOf(title), { title, text: section.slice(end + 1).trim() }];
    }),
  );
}

function anchorOf(title: string): string {
  return title.toLowerCase().replaceAll(' ', '-');
}
