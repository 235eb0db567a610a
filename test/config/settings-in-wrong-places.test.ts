// A setting in the wrong file, or with the indentation of another block, is told with the place to which it belongs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Files, sentencesFor, sound, spoiled } from './faults.ts';

const [UPSTREAMS, GATEWAY, LIMITS] = ['config/upstreams.yaml', 'config/gateway.yaml', 'config/limits.yaml'] as const;
const ITEMS = 'openapi/items.yaml';
const inGateway = (line: string) => spoiled(GATEWAY, 'trustedProxies', `${line}\ntrustedProxies`);
const inEntry = (text: string) => spoiled(UPSTREAMS, 'timeoutMs: 1000', text);
const NOT_HERE = (key: string) => `the key "${key}" does not belong here.`;
const TO_LIMITS = 'Move it to limits.yaml, to the top level of the file.';

for (const [what, files, says] of [
  ['tiers in gateway.yaml', inGateway('tiers: {}'), `${GATEWAY}:2:1: tiers: ${NOT_HERE('tiers')} ${TO_LIMITS}`],
  [
    'a token in gateway.yaml',
    inGateway('admin_token: nothing'),
    `${GATEWAY}:2:1: admin_token: ${NOT_HERE('admin_token')} Remove it here. Put it into the file SECRETS_DIR/admin_token, or restart the gateway with the variable ADMIN_TOKEN.`,
  ],
  [
    'a setting of an entry in gateway.yaml',
    inGateway('live: http://items'),
    `${GATEWAY}:2:1: live: ${NOT_HERE('live')} Move it to an entry below "upstreams" in upstreams.yaml, and indent it as the other keys there.`,
  ],
  [
    'tiers in an entry',
    inEntry('tiers: { standard: { requests: 100 } }'),
    `${UPSTREAMS}:5:5: upstreams.items.tiers: ${NOT_HERE('tiers')} ${TO_LIMITS}`,
  ],
  [
    'a limit in an entry',
    inEntry('limits: { requests: 100 }'),
    `${UPSTREAMS}:5:5: upstreams.items.limits: ${NOT_HERE('limits')} Write it in limits.yaml, with a name under "extra", and here limit: with that name.`,
  ],
  [
    'sizes in an entry',
    inEntry('limits: { bodyBytesMax: 1000 }'),
    `${UPSTREAMS}:5:5: upstreams.items.limits: ${NOT_HERE('limits')} Move it to gateway.yaml, to the top level of the file.`,
  ],
  [
    'publicUrl in limits.yaml',
    { [LIMITS]: `${sound[LIMITS]}publicUrl: http://localhost\n` },
    `${LIMITS}:7:1: publicUrl: ${NOT_HERE('publicUrl')} Move it to gateway.yaml, to the top level of the file.`,
  ],
  [
    'a credential beside its entry',
    inEntry('timeoutMs: 1000\n  credential:\n    bearer: { secret: items_token }'),
    `${UPSTREAMS}:6:3: upstreams.credential: ${NOT_HERE('credential')} Indent it deeper, so that it belongs to "items".`,
  ],
  [
    'a credential at the left margin',
    inEntry('timeoutMs: 1000\ncredential:\n  bearer: { secret: items_token }'),
    `${UPSTREAMS}:6:1: credential: ${NOT_HERE('credential')} Move it to an entry below "upstreams" in upstreams.yaml, and indent it as the other keys there.`,
  ],
  [
    'the type of a property beside another type',
    spoiled(ITEMS, '        name: { type: string, pattern: "^[a-z]+$" }', '        name:\n      type: string'),
    `${ITEMS}:25:7: the key "type" is there twice, and "name" in the line before it has no content. Indent it by 10 spaces, so that it belongs to "name".`,
  ],
  [
    'the type of a property beside the properties',
    spoiled(ITEMS, '        name: { type: string, pattern: "^[a-z]+$" }', '        name:\n        type: string'),
    `${ITEMS}:24:9: components.schemas.Item.properties.name: "name" has no content. Indent what belongs to it deeper than itself, or remove it.`,
  ],
] as [string, Files, string][])
  test(`${what}: the place is told`, async () => {
    assert.deepEqual(await sentencesFor({ files }), [says]);
  });
