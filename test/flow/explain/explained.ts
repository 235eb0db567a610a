// A gateway and the explain command as an operator runs it.

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { OperatorReport } from '../../../gateway/explain/report.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { commandLine } from '../commands/command-line.ts';

type Explained = Pick<TestGateway, 'adminUrl' | 'directory' | 'dataDirectory'>;

/** Runs `gateway explain` beside a gateway that runs, on its files and its store. */
export function explainer({ adminUrl, directory, dataDirectory }: Explained) {
  const { hostname, port } = new URL(adminUrl);
  const { runWith } = commandLine(dataDirectory, {
    GATEWAY_CONFIG: join(directory, 'config'),
    GATEWAY_CONTRACTS: join(directory, 'openapi'),
    ADMIN_HOST: hostname,
    ADMIN_PORT: port,
  });
  const run = (...words: string[]) => runWith({}, 'explain', ...words);
  return {
    run,
    runWith: (input: readonly string[], ...words: string[]) => runWith({ input }, 'explain', ...words),
    async stories(...words: string[]): Promise<OperatorReport[]> {
      const { code, out, err } = await run(...words, '--json');
      if (code !== 0) throw new Error(err);
      return (JSON.parse(out) as { exchanges: OperatorReport[] }).exchanges;
    },
  };
}

/** The log of a gateway so far, as a file. */
export function logFileOf(test: TestContext, gateway: TestGateway): string {
  const path = join(gateway.directory, `access-${test.name.replaceAll(/\W+/g, '-')}.ndjson`);
  writeFileSync(
    path,
    gateway
      .logLines()
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  );
  test.after(() => rmSync(path, { force: true }));
  return path;
}
