// The disk of the data directory is full: status, console, log, explain and doctor name the disk, and all of it ends when there is room. The
// disk is a small one of the test, which only root can make.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { checkDataDirectory } from '../../../gateway/commands/doctor/data.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { eventually } from '../../support/instances.ts';
import { createKeyedWorld, type KeyedWorld, newKey } from './keyed.ts';

interface Status {
  readonly idempotency: { readonly state: string; readonly reason?: string; readonly since_at?: string };
  readonly disk: { readonly free_bytes: number };
}

interface Cause {
  readonly id: string;
  readonly severity: string;
  readonly cause: string;
  readonly consequence: string;
  readonly since: string;
  readonly runbook: string | null;
  readonly next: string | null;
}

const mount = () => {
  const directory = temporaryDirectory();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', directory], { stdio: 'ignore' });
    return directory;
  } catch {
    return undefined;
  }
};

const disk = mount();

/** Writes until the disk takes no more. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (const size of [65_536, 1]) {
      try {
        for (;;) writeSync(file, Buffer.alloc(size));
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
      }
    }
  } finally {
    closeSync(file);
  }
}

describe('a full disk', { skip: disk === undefined && 'only root can make a small disk' }, () => {
  const dataDirectory = disk as string;
  const filler = join(dataDirectory, 'filler');
  let world: KeyedWorld;
  before(async () => {
    world = await createKeyedWorld({ dataDirectory });
  });
  after(async () => {
    await world?.close();
    execFileSync('umount', [dataDirectory]);
  });

  const get = async <T>(path: string) => (await (await fetch(`${world.gateway.adminUrl}${path}`)).json()) as T;
  const status = () => get<Status>('/status');
  const causes = async () => (await get<{ causes: Cause[] }>('/causes')).causes;

  it('is one cause with the path, the room, what is lost, and a runbook', async () => {
    assert.deepEqual(await causes(), []);
    const before = new Date().toISOString();
    fill(filler);
    await eventually(async () => {
      await world.post({ key: newKey() });
      return (await status()).idempotency.state === 'away';
    });
    const { idempotency } = await status();
    assert.match(String(idempotency.reason), /database or disk is full/);
    const [cause, ...others] = await causes();
    assert.deepEqual(others, []);
    assert.equal(cause?.id, 'stores disk');
    assert.equal(
      cause?.cause,
      `The disk of GATEWAY_DATA ${dataDirectory} is full (0 of 6 MiB free): keys, idempotency and usage cannot be written.`,
    );
    assert.match(
      cause?.consequence ?? '',
      /^So far: .* responses with 5xx.*Writes with an Idempotency-Key get 503.*changes of organizations and keys are refused/,
    );
    assert.deepEqual([cause?.runbook, cause?.next], ['GatewayDiskFull', 'bin/gateway doctor']);
    assert.ok(cause !== undefined && cause.since >= before, cause?.since);
    assert.equal((await fetch(`${world.gateway.adminUrl}/console/runbook/GatewayDiskFull`)).status, 200);
  });

  it('is the reason in the log, and in the explanation of a refused request', async () => {
    const refused = await world.post({ key: newKey() });
    assert.equal(refused.status, 503);
    const { exchanges } = await get<{ exchanges: object[] }>(`/console/exchanges/${refused.headers['x-request-id']}`);
    const told = JSON.stringify(exchanges);
    assert.match(told, /the idempotency store cannot be used \(ERR_SQLITE_ERROR: database or disk is full\)/);
    assert.match(told, /GatewayDiskFull/);
    const changed = world.gateway
      .logLines()
      .find(({ msg }) => String(msg).startsWith('the store of the idempotent answers'));
    assert.match(String(changed?.reason), /database or disk is full/);
  });

  it('has the right remedy in doctor, which also says how much room there is', () => {
    const [written, room] = checkDataDirectory(dataDirectory, Date.now);
    assert.match(written?.says ?? '', /cannot be written to \(ENOSPC: its disk is full\)/);
    assert.match(written?.remedy ?? '', /^Make room/);
    assert.deepEqual([room?.check, room?.verdict, room?.says], ['data space', 'fail', '0 of 6 MiB free.']);
  });

  it('ends by itself, also without another write of a client', async () => {
    rmSync(filler);
    await eventually(async () => (await status()).idempotency.state === 'up');
    await eventually(async () => (await causes()).length === 0);
  });
});
