// The common part of the faults: a sound configuration, of which each fault spoils one place.

import { loadSettings } from '../../gateway/config/settings.ts';
import { loadConfiguration } from '../../gateway/configuration.ts';
import { ConfigError, toSentence } from '../../gateway/shared/mistakes.ts';
import { environmentOf, writeFiles } from '../support/configuration.ts';
import { temporaryDirectory } from '../support/directory.ts';

/** Files below a directory: `config/…` and `openapi/…`; `undefined` removes one. */
export type Files = Readonly<Record<string, string | undefined>>;

export interface Fault {
  readonly files: Files;
  /** The output of `check`: file, line, column, place, reason, remedy. */
  readonly says: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export const sound = {
  'config/gateway.yaml': `publicUrl: http://localhost:8080
trustedProxies: []
`,
  'config/upstreams.yaml': `upstreams:
  items:
    contracts: [items.yaml]
    live: http://items:3000
    timeoutMs: 1000
`,
  'config/limits.yaml': `tiers:
  standard: { requests: 100 }
extra:
  slow: { requests: 5, windowSeconds: 60 }
operations:
  listItems: { extra: slow }
`,
  'openapi/items.yaml': `openapi: 3.1.1
info: { title: Items, version: "1" }
security: [{ apiKey: ["items:read"] }]
paths:
  /v1/items:
    get:
      operationId: listItems
      responses: { "200": { description: The items } }
    post:
      operationId: createItem
      security: [{ apiKey: ["items:write"] }]
      requestBody:
        content:
          application/json:
            schema: { $ref: "#/components/schemas/Item" }
      responses: { "201": { description: The item } }
components:
  securitySchemes:
    apiKey: { type: http, scheme: bearer }
  schemas:
    Item:
      type: object
      properties:
        name: { type: string, pattern: "^[a-z]+$" }
`,
} as const;

type SoundFile = keyof typeof sound;

/** A sound file with one piece of its text replaced. */
export function spoiled(file: SoundFile, piece: string, by: string): Files {
  if (!sound[file].includes(piece)) throw new Error(`${file} has no ${piece}`);
  return { [file]: sound[file].replace(piece, () => by) };
}

/** The sound files with these on top, in a new directory. */
export function writeSound(files: Files): string {
  const directory = temporaryDirectory();
  writeFiles(directory, { ...sound, ...files });
  return directory;
}

/**
 * The sentences that a configuration earns, with paths below its directory.
 *
 * @param spoil does to the directory what no text of a file can
 */
export async function sentencesFor(
  { files, environment = {} }: Pick<Fault, 'files' | 'environment'>,
  spoil?: (directory: string) => void,
): Promise<string[]> {
  const directory = writeSound(files);
  const all = { ...environmentOf(directory), ...environment };
  try {
    spoil?.(directory);
    await loadConfiguration(loadSettings(all), all, 'check');
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.mistakes.map((mistake) => toSentence(mistake).replaceAll(`${directory}/`, ''));
  }
}
