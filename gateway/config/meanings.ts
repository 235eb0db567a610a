// Reads the meanings of configuration keys from docs/config.md. Editors show them beside the keys.

import { readFileSync } from 'node:fs';

export type ConfigFile = 'gateway' | 'upstreams' | 'limits';

/** `<…>` matches every name, `[]` every item. */
export type KeyPath = readonly string[];

const DOCUMENT = new URL('../../docs/config.md', import.meta.url);

const upstream = 'upstreams.<name>';
/** Maps the heading of a table's first column to the places of its keys. */
const places: Readonly<Record<ConfigFile, Readonly<Record<string, readonly string[]>>>> = {
  gateway: {
    Key: [''],
    'Key of TLS': ['tls'],
    'Key of a certificate': ['tls.certificates.[]'],
    'Key of `tracing`': ['tracing'],
  },
  upstreams: {
    'Key of an upstream': [upstream],
    'Key of `ejection`': [`${upstream}.ejection`],
    'Key of `breaker`': [`${upstream}.breaker`],
    'Key of `tls`': [`${upstream}.tls`],
    'Key of `health`': [`${upstream}.health`],
    'Key of a tunnel': [`${upstream}.tunnels.[]`],
    'Key of a decision': ['breaking.[]'],
  },
  limits: { Key: [''], 'Key of a limit': ['tiers.<name>', 'extra.<name>', 'organizations.<id>'] },
};

export interface Meaning {
  readonly path: KeyPath;
  readonly text: string;
}

/** Returns all meanings that the document gives for one file. */
export function meaningsIn(file: ConfigFile): Meaning[] {
  const sections = readFileSync(DOCUMENT, 'utf8').split(/^## /m);
  const section = sections.find((one) => one.startsWith(`config/${file}.yaml\n`)) ?? '';
  return [...section.matchAll(/(?:^\|.*\n)+/gm)].flatMap(([table]) => meaningsOf(table, file));
}

function meaningsOf(table: string, file: ConfigFile): Meaning[] {
  const [heads = [], , ...rows] = table.trimEnd().split('\n').map(cellsOf);
  const column = heads.indexOf('Meaning');
  const prefixes = places[file][heads[0] ?? ''] ?? [];
  return rows.flatMap((cells) =>
    [...(cells[0] ?? '').matchAll(/`([^`]+)`/g)].flatMap(([, name = '']) =>
      prefixes.map((prefix) => ({
        path: [prefix, name].filter((part) => part !== '').flatMap((part) => part.split('.')),
        text: cells[column] ?? '',
      })),
    ),
  );
}

function cellsOf(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}
