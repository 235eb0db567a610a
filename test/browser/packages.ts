// The packages of the browser tests, which `npm run test:browser` installs. A file that is run alone may find none: it says what installs
// them.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const missing = (cause: unknown): never => {
  throw new Error('The packages of the browser tests are not installed. Run `npm run pretest:browser` once.', {
    cause,
  });
};

export const { chromium } = await import('playwright-core').catch(missing);

/** The source of axe, for pages. */
export const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
