// The reference pages and schemas that are made from code. `npm run docs` writes them; test/pinned/reference-pages.test.ts compares them.

import { readFileSync } from 'node:fs';
import { CONFIG_FILE_NAMES, editorSchemaOf } from '../../gateway/config/editor-schemas.ts';
import { commandList } from './command-list.ts';
import { configTables } from './config-tables.ts';
import { errorTables } from './error-tables.ts';
import { fieldTable } from './field-table.ts';
import { metricTables } from './metric-tables.ts';
import { skippedStages, stageDrawing, stageItems } from './stage-table.ts';
import { fill } from './table.ts';

const ROOT = new URL('../../', import.meta.url);

/** Returns where a path of the repository is. */
export function fileOf(path: string): URL {
  return new URL(path, ROOT);
}

/** Returns the text of every generated file by its path. The prose around the generated parts stays as it is. */
export async function generatedPages(): Promise<ReadonlyMap<string, string>> {
  const read = (path: string) => readFileSync(fileOf(path), 'utf8');
  const schemas = CONFIG_FILE_NAMES.map((name) => [`config/schemas/${name}.json`, editorSchemaOf(name)] as const);
  const texts: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'README.md': { drawing: stageDrawing(), stages: stageItems() },
    'docs/commands.md': await commandList(),
    'docs/config.md': configTables(),
    'docs/errors.md': { errors: errorTables() },
    'docs/explain.md': { skipped: skippedStages(), fields: fieldTable() },
    'docs/metrics.md': await metricTables(),
  };
  const pages = Object.entries(texts).map(([path, parts]) => [path, fill(read(path), parts)] as const);
  return new Map([...pages, ...schemas]);
}
