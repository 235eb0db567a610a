// An installation for several workers that a test starts by itself.

import type { TestContext } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { createInstallation } from '../../support/process.ts';
import { prepareSeveral, type SeveralOptions } from './several.ts';

/** An installation for two workers, of which one can know when the process that holds them listens to operators. */
export async function installed(test: TestContext, options?: SeveralOptions) {
  const prepared = await prepareSeveral(options);
  test.after(prepared.close);
  const adminPort = await freePort();
  const installation = createInstallation({ ...prepared.environment, ADMIN_PORT: String(adminPort) });
  test.after(installation.remove);
  const answers = () => fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => undefined);
  return { installation, answers };
}
