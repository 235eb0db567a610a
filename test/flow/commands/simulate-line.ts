// `limits simulate` on the configuration of a directory, with logs and candidates written for it.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../support/directory.ts';
import { commandLine } from './command-line.ts';

/** `configured` holds `config/` and `openapi/`. */
export function simulateLine(configured: string) {
  const environment = { GATEWAY_CONFIG: join(configured, 'config'), GATEWAY_CONTRACTS: join(configured, 'openapi') };
  const line = commandLine(undefined, environment);
  const directory = temporaryDirectory();

  /** Writes a file and gives its path. */
  function written(name: string, content: string | Buffer): string {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  }

  return {
    ...line,
    written,
    log: (entries: readonly object[], name = 'access.ndjson') => written(name, toLog(entries)),
    candidate: (members: object) => written('candidate.yaml', JSON.stringify(members, null, 2)),
  };
}

export function toLog(entries: readonly object[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}
