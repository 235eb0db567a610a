// A process is killed at any moment while it writes: acknowledged writes are there, and no write is there by half.

import { rmSync } from 'node:fs';
import { it } from 'node:test';
import { temporaryDirectory } from '../../support/directory.ts';
import { checkStores, writeAndKill } from './written.ts';

/** How long it may write, in milliseconds: around the moment of its first writes, and later. */
const MOMENTS_MS = [0, 3, 40];

it('keys, organizations, their audit log and idempotent answers outlive kills', async () => {
  const directory = temporaryDirectory();
  const acknowledged: (readonly [string, string])[] = [];
  for (const [run, forMs] of MOMENTS_MS.entries()) {
    acknowledged.push(...(await writeAndKill(directory, String(run), forMs)));
    await checkStores(directory, acknowledged);
  }
  rmSync(directory, { recursive: true });
});
