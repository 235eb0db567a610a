// A copy of the gateway and of the simulation, to which one mutation is applied at a time.

import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Mutation } from './mutation.ts';
import type { SearchResult } from './search.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
/** What a search needs. */
const COPIED = ['gateway', 'test/simulation', 'test/unit/limits', 'package.json', 'tsconfig.json'];

export class MutatedCopy {
  readonly #directory = mkdtempSync(join(tmpdir(), 'mutated-gateway-'));
  readonly #signal: AbortSignal;

  /** @param signal ends its searches */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
    for (const path of COPIED) cpSync(join(root, path), join(this.#directory, path), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.#directory, 'node_modules'));
  }

  /** Applies the mutation as long as the work lasts. */
  async with<T>({ file, before, after }: Mutation, work: () => Promise<T>): Promise<T> {
    const place = join(this.#directory, file);
    const source = readFileSync(place, 'utf8');
    writeFileSync(
      place,
      source.replace(before, () => after),
    );
    try {
      return await work();
    } finally {
      writeFileSync(place, source);
    }
  }

  /** Searches until a checker finds a fault, or for so many simulated hours, in a process of its own. */
  async search(protocol: string, hoursMax: number): Promise<SearchResult> {
    const script = join(this.#directory, 'test/simulation/mutations/search.ts');
    const args = ['--disable-warning=ExperimentalWarning', script, protocol, String(hoursMax)];
    const { stdout } = await run(process.execPath, args, { signal: this.#signal });
    return JSON.parse(stdout) as SearchResult;
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true });
  }
}
