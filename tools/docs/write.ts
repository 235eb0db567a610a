// Writes the reference pages and schemas that are made from code (`npm run docs`).

import { readFileSync, writeFileSync } from 'node:fs';
import { fileOf, generatedPages } from './pages.ts';

for (const [path, text] of await generatedPages()) {
  if (readFileSync(fileOf(path), 'utf8') === text) continue;
  writeFileSync(fileOf(path), text);
  console.log(`wrote ${path}`);
}
