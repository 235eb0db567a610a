// A file of declared rules, as the loader reads it.

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { checkShape } from '../../../gateway/config/issues.ts';
import type { Mistake } from '../../../gateway/shared/mistakes.ts';
import { readSource } from '../../../gateway/shared/yaml-source.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** The mistakes that a file with these rules has: place, reason and remedy of each. */
export function mistakesIn(schema: z.ZodType, rules: string): string[] {
  const directory = temporaryDirectory();
  try {
    const file = join(directory, 'rules.yaml');
    writeFileSync(file, rules);
    const mistakes: Mistake[] = [];
    checkShape(readSource(file, mistakes), schema, mistakes);
    return mistakes.map(({ place, reason, remedy }) => `${place}: ${reason} ${remedy}`);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
