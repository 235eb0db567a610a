// Forty kills at random moments of writes, on the same files: acknowledged writes are there, and no write is there by half.

import { rmSync } from 'node:fs';
import { it } from 'node:test';
import { checkStores, writeAndKill } from '../flow/crash/written.ts';
import { temporaryDirectory } from '../support/directory.ts';

const KILLS = 40;
const WITHIN_MS = 120;

it('keys, organizations, their audit log and idempotent answers outlive kills', async () => {
  const directory = temporaryDirectory();
  const acknowledged: (readonly [string, string])[] = [];
  for (let run = 0; run < KILLS; run += 1) {
    acknowledged.push(...(await writeAndKill(directory, String(run), Math.random() * WITHIN_MS)));
    await checkStores(directory, acknowledged);
  }
  rmSync(directory, { recursive: true });
});
