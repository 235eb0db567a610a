// The table of known attacks: bytes that no client library would send, each with the answer it gets and with every byte that the upstream
// sees of it, which mostly is nothing. A row that passes leaves its connection in step: the request behind it gets its own answer.

import { after, describe } from 'node:test';
import { bodyCases } from './cases/bodies.cases.ts';
import { borderCases } from './cases/borders.cases.ts';
import { framingCases } from './cases/framing.cases.ts';
import { headCases } from './cases/heads.cases.ts';
import { identityCases } from './cases/identity.cases.ts';
import { besiege, runAttacks } from './cases/run.ts';
import { targetCases } from './cases/targets.cases.ts';

const besieged = await besiege();
after(() => besieged.close());

describe('where a message ends', () => runAttacks(framingCases, () => besieged));
describe('the head of a message', () => runAttacks(headCases, () => besieged));
describe('the target', () => runAttacks(targetCases, () => besieged));
describe('forged identities', () => runAttacks(identityCases, () => besieged));
describe('the body', () => runAttacks(bodyCases, () => besieged));
describe('how much is taken in', () => runAttacks(borderCases, () => besieged));
