// All rows of the table.

import { bodyCases } from './bodies.cases.ts';
import { borderCases } from './borders.cases.ts';
import type { AttackCase } from './case.ts';
import { framingCases } from './framing.cases.ts';
import { headCases } from './heads.cases.ts';
import { identityCases } from './identity.cases.ts';
import { targetCases } from './targets.cases.ts';

export const allCases: readonly AttackCase[] = [
  ...framingCases,
  ...headCases,
  ...targetCases,
  ...identityCases,
  ...bodyCases,
  ...borderCases,
];
