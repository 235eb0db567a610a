// `gateway init --from` on a running service, from an empty folder: one typed line and one paste lead to the first 200.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/directory.ts';
import { unusedPort } from '../support/upstream.ts';
import { hasPython } from './support/packages.ts';
import { type Service, startFastApi, startNodeService } from './support/stand.ts';

const run = promisify(execFile);
const executable = fileURLToPath(new URL('../../bin/gateway', import.meta.url));
const PATIENCE_MS = 120_000;

const noPython = (await hasPython()) ? false : 'this machine has no python3 with venv and pip';

const services: Readonly<Record<string, (report: string) => Promise<Service>>> = {
  FastAPI: (report) => startFastApi({ REPORT_FILE: report }),
  Express: (report) => startNodeService('express.js', { REPORT_FILE: report }),
  Fastify: (report) => startNodeService('fastify.js', { REPORT_FILE: report }),
  NestJS: (report) => startNodeService('nest.js', { REPORT_FILE: report }),
};

/** Runs one line, or several that are pasted together, as in a terminal. Ends what they leave in the background. */
async function type(lines: string, cwd: string, environment: Readonly<Record<string, string>>): Promise<string> {
  const script = `${lines}\n[ -z "$!" ] || { kill $!; wait; }`;
  const env = { ...process.env, ...environment };
  const { stdout } = await run('sh', ['-c', script], { cwd, env, timeout: PATIENCE_MS });
  return stdout;
}

async function reachFirstAnswer(context: TestContext, start: (report: string) => Promise<Service>): Promise<void> {
  const folder = temporaryDirectory();
  const report = join(folder, 'report.txt');
  writeFileSync(report, 'A line of a report.\n');
  const service = await start(report);
  context.after(() => service.stop());
  const port = String(await unusedPort());
  const environment = { HOST: '127.0.0.1', PORT: port, ADMIN_PORT: '0', GATEWAY_DATA: join(folder, 'data') };

  const startedAt = performance.now();
  const typed = `bin/gateway init my-config --from ${service.origin}`;
  const printed = await type(typed.replace('bin/gateway', executable), folder, environment);
  const [, pasted = assert.fail(printed)] = printed.split('The first request:\n');
  // The template says port 8080, which may be in use here.
  const answer = await type(
    pasted.replaceAll('http://localhost:8080', `http://127.0.0.1:${port}`),
    folder,
    environment,
  );
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  // The line, its return, and one paste.
  context.diagnostic(JSON.stringify({ keystrokes: typed.length + 2, seconds }));
  assert.match(answer, /^HTTP\/1\.1 200 OK\r$/m);
}

describe('init --from leads to the first 200', { concurrency: false }, () => {
  for (const [name, start] of Object.entries(services))
    it(name, { skip: name === 'FastAPI' && noPython }, (context) => reachFirstAnswer(context, start));
});
